import { afterAll, beforeAll, beforeEach, describe, expect, inject, test } from 'vitest'
import type { AutomationFiring } from '../../src/api/automation-firing.ts'
import { automationGraphPlan } from '../../src/api/automation-graph-plan.ts'
import type { Pod } from '../../src/kube/core-types.ts'
import { digestBytes } from '../../src/lib/digest.ts'
import { isSettledFiring } from '../../src/reconcilers/automation-firing/phase.ts'
import { expectLawfulHistory } from '../integration/crash/invariants.ts'
import { byObject, type Version, Witness } from '../integration/crash/witness.ts'
import { haveClusterAlone } from '../kit/cluster-turn.ts'
import { eventually } from '../kit/eventually.ts'
import type { Doom, ManagerKeeper } from '../kit/manager-process.ts'
import { observer, requireNode } from '../kit/node-cluster.ts'
import { agentStep, graph, scheduled, shellAgent, surroundings } from './manifests.ts'
import { OutsideManagers } from './outside-managers.ts'
import { Workspace } from './workspace.ts'

/**
 * The manager is killed with SIGKILL at one of its writes, and started again, while real pods work. The same at every
 * write, without nodes: test/integration/crash.
 */

interface Story {
  readonly title: string
  readonly doom?: Doom
}

const kinds = ['AutomationGraphPlan', 'Automation', 'AutomationFiring', 'Session', 'Job']
const moments = { before: 'just before it asks for a', after: 'as soon as there is a' } as const
const stories: readonly Story[] = [
  { title: 'not killed' },
  ...kinds.flatMap((kind) =>
    (['before', 'after'] as const).map((moment) => ({
      title: `killed ${moments[moment]} new ${kind}`,
      doom: { at: `create ${kind}`, moment } satisfies Doom,
    })),
  ),
]

/** What becomes of the world, whoever was killed in it. */
const theEnd = {
  plans: [['flow-1', 'Applied', 'Create flow Started', 'Create flow Done']],
  firing: ['schedule', 'Succeeded', 'completed', 'after\n'],
  steps: { work: ['completed', 'work\n'], after: ['completed', 'after\n'] },
  sessions: ['after Succeeded', 'work Succeeded'],
  runs: ['after Succeeded 0', 'work Succeeded 0'],
  commands: { after: ['started', 'after\n'], work: ['started', 'work\n'] },
}

/** The time it takes to plan and to apply, and to start a manager once more in between. */
const preparationMillis = 35_000

let managers: OutsideManagers
let witness: Witness

haveClusterAlone()
beforeEach(requireNode)
beforeAll(async () => {
  if ('unavailable' in inject('nodeCluster')) return
  witness = await new Witness(observer()).start()
  managers = await OutsideManagers.start()
})
afterAll(async () => {
  await witness?.stop()
  await managers?.stop()
})

describe.concurrent('a manager that plans, applies, fires by the clock and runs pods', () => {
  test.for(stories)(
    '[A-301] [A-310] $title: one of each, and the same result',
    {
      timeout: 300_000,
    },
    async ({ doom }) => {
      const workspace = await Workspace.create('crash')
      const keeper = managers.manage(workspace.namespace, (life) => (life === 0 ? doom : undefined))
      try {
        await Promise.race([play(workspace), keeper.failed])
      } catch (cause) {
        throw new Error(`${cause instanceof Error ? cause.message : cause}\n${keeper.complaints}`, { cause })
      } finally {
        await keeper.stop()
      }
      expectDeath(keeper, doom)
      await witness.catchesUp(observer(), workspace.namespace)
      const history = witness.history(workspace.namespace)
      expectLawfulHistory(history)
      expect(await outcome(workspace, history)).toEqual(theEnd)
      expect(await workspace.lint()).toEqual([])
    },
  )
})

/** What people write, and then the clock. Resolves when the one firing has settled, and its Automation knows. */
async function play(workspace: Workspace): Promise<void> {
  await workspace.apply(...surroundings(), command('work'), command('after'))
  await workspace.kubectl('wait', 'agents,agentenv', '--all', '--for=condition=Ready', '--timeout=120s')
  const due = new Date(Math.ceil((Date.now() + preparationMillis) / 60_000) * 60_000)
  const once = scheduled(`${due.getUTCMinutes()} ${due.getUTCHours()} * * *`)
  await workspace.apply(graph('flow', [agentStep('work'), agentStep('after')], [], once))
  await eventually(
    async () => {
      const { last, active } = (await workspace.automation('flow')).status ?? {}
      expect([last?.result, active]).toEqual(['Succeeded', []])
    },
    { timeout: 210_000, interval: 500 },
  )
}

/** Says that it started, and leaves its name: a command that ran twice would have said so twice. */
function command(step: string): object {
  return shellAgent(step, `echo started; echo ${step} > /graphwright/output/result`)
}

/** It died once, at the write it was to die at, and never again. */
function expectDeath({ lives }: ManagerKeeper, doom: Doom | undefined): void {
  expect(lives).toHaveLength(doom === undefined ? 1 : 2)
  if (doom === undefined) return
  const [dead] = lives
  const sort = dead?.begun.map(({ verb, kind }) => `${verb} ${kind}`) ?? []
  expect(sort.filter((write) => write === doom.at)).toHaveLength(1)
  const answered = dead?.writes.filter(({ verb, kind }) => `${verb} ${kind}` === doom.at)
  expect(answered).toHaveLength(doom.moment === 'after' ? 1 : 0)
}

async function outcome(workspace: Workspace, history: readonly Version[]): Promise<unknown> {
  const place = { namespace: workspace.namespace }
  const [plans, firings, sessions, runs] = await Promise.all([
    observer().list(automationGraphPlan, place),
    workspace.firings(),
    workspace.sessions(),
    workspace.runs(),
  ])
  const [firing] = firings as [AutomationFiring]
  expect(firings.filter(isSettledFiring)).toHaveLength(1)
  const steps = Object.entries(firing.status?.steps ?? {})
  return {
    plans: plans.items.map(({ metadata, status }) => [
      ...[metadata.name, status?.phase],
      ...(status?.journal ?? []).map(({ action, name, state }) => `${action} ${name} ${state}`),
    ]),
    firing: [firing.spec.trigger, firing.status?.phase, firing.status?.result, firing.status?.output?.inline],
    steps: Object.fromEntries(steps.map(([id, { kind, output }]) => [id, [kind, output?.inline]])),
    sessions: sessions.map(({ spec, status }) => `${spec.step} ${status?.phase}`).sort(),
    runs: runs.map(({ spec, status }) => `${spec.step} ${status?.phase} ${status?.incarnation?.number}`).sort(),
    commands: await commands(workspace, history),
  }
}

/**
 * What the kubelet knows of the commands, which does not take the operator's word for anything: for each step what its
 * containers printed, and what the step left. A pod is seen by its UID, also one that is gone; a container that was
 * started again would have a restart count.
 */
async function commands(workspace: Workspace, history: readonly Version[]): Promise<Record<string, unknown>> {
  const pods = [...byObject(history).values()].filter(([first]) => first?.object.kind === 'Pod')
  const told = pods.map(async (versions) => {
    const last = versions.at(-1) as Version
    const { metadata, status } = last.object as Pod
    const containers = status?.containerStatuses ?? []
    expect(containers.map(({ name, restartCount }) => [name, restartCount])).toEqual([['agent', 0]])
    const printed = await workspace.kubectl('logs', metadata.name, '-c', 'agent')
    const step = metadata.labels?.['graphwright.dev/step'] ?? ''
    const { result } = (await workspace.run(step)).status ?? {}
    expect(result?.output.digest).toBe(digestBytes(`${step}\n`))
    return [step, [printed.trimEnd(), result?.output.inline]] as const
  })
  const all = await Promise.all(told)
  expect(all.map(([step]) => step).sort()).toEqual(['after', 'work'])
  return Object.fromEntries(all)
}
