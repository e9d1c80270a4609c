import type { Command } from 'commander'
import { automation } from '../api/automation.ts'
import { automationFiring } from '../api/automation-firing.ts'
import { automationGraph } from '../api/automation-graph.ts'
import { automationGraphPlan } from '../api/automation-graph-plan.ts'
import type { KubeObject, ResourceType } from '../lib/object.ts'
import { compareText } from '../lib/text.ts'
import { withCluster } from './cluster.ts'
import { candidatesFor, type NameKind, writtenOptions } from './completion.ts'
import type { Io } from './io.ts'
import type { GlobalOptions } from './options.ts'

/** A shell does not wait longer for names. */
const patienceMillis = 1500

/** `__complete -- WORDS`: what may stand in place of the last word, one a line. Never fails: then there is nothing. */
export async function completeCommand(program: Command, words: readonly string[], io: Io): Promise<void> {
  const { words: known, names } = candidatesFor(program, words)
  const current = words.at(-1) ?? ''
  const found = names.length === 0 ? [] : await namesOf(names, writtenOptions(program, words))
  const all = [...known, ...found.filter((name) => name.startsWith(current))]
  io.out(all.map((one) => `${one}\n`).join(''))
}

const types: Readonly<Record<NameKind, ResourceType<KubeObject>>> = {
  Automation: automation,
  AutomationFiring: automationFiring,
  AutomationGraph: automationGraph,
  AutomationGraphPlan: automationGraphPlan,
}

async function namesOf(kinds: readonly NameKind[], options: GlobalOptions): Promise<string[]> {
  try {
    return await withCluster(options, async ({ client, namespace }) => {
      const signal = AbortSignal.timeout(patienceMillis)
      const lists = await Promise.all(kinds.map((kind) => client.list(types[kind], { namespace, signal })))
      const named = lists.flatMap(({ items }, index) => items.map(({ metadata }) => word(kinds[index], metadata.name)))
      return named.toSorted(compareText)
    })
  } catch {
    return []
  }
}

/** `approve` takes a plan by `plan/NAME`. */
function word(kind: NameKind | undefined, name: string): string {
  return kind === 'AutomationGraphPlan' ? `plan/${name}` : name
}
