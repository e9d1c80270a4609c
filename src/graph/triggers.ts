import type { AutomationTrigger } from '../api/automation.ts'
import type { GraphNode, TriggerConfiguration, TriggerKind } from '../api/graph-document.ts'
import type { DeepReadonly } from '../lib/readonly.ts'
import { parseCron } from '../schedule/cron.ts'
import { normaliseInstant } from '../schedule/instant.ts'
import { triggerClasses, triggerFields } from '../schedule/trigger-rules.ts'
import { type Draft, edgesFrom, nodesOf } from './draft.ts'
import type { Findings } from './findings.ts'

export interface TriggerOptions {
  readonly now: Date
  readonly appliedTriggers?: DeepReadonly<AutomationTrigger[]>
}

/** Checks every trigger, and that there is one. */
export function checkTriggers(draft: Draft, options: TriggerOptions, findings: Findings): void {
  if (![...draft.nodes.values()].some(({ kind }) => kind === 'trigger')) {
    findings.error('trigger_missing', 'nothing starts the graph: add a node of kind trigger, for example a manual one')
  }
  const seen = new Map<string, string>()
  for (const node of nodesOf(draft, 'trigger')) {
    if (edgesFrom(draft, node.id, 'starts').length === 0) {
      findings.error('document_invalid', `trigger ${node.id} starts nothing: add an edge starts from it`, {
        node: node.id,
      })
    }
    if (node.trigger === undefined) continue
    checkClass(node.id, node.trigger.kind, seen, findings)
    checkTrigger(node.id, node.trigger, options, findings)
  }
}

function checkClass(id: string, kind: TriggerKind, seen: Map<string, string>, findings: Findings): void {
  const other = seen.get(triggerClasses[kind])
  if (other === undefined) {
    seen.set(triggerClasses[kind], id)
    return
  }
  findings.error(
    'trigger_conflict',
    `${id} and ${other} are both of the class ${triggerClasses[kind]}, of which a graph has at most one: remove one of them`,
    { node: id },
  )
}

function checkTrigger(node: string, trigger: TriggerConfiguration, options: TriggerOptions, findings: Findings): void {
  const needed = triggerFields[trigger.kind]
  if (needed === undefined) {
    findings.error(
      'document_invalid',
      `trigger ${node} has the kind ${trigger.kind}, which this release does not run; it runs ${Object.keys(triggerFields).join(', ')}`,
      { node },
    )
    return
  }
  for (const field of Object.keys(trigger) as (keyof TriggerConfiguration)[]) {
    if (field === 'kind' || needed.includes(field)) continue
    findings.error('document_invalid', `${field} does not belong to a trigger of kind ${trigger.kind}: remove it`, {
      node,
    })
  }
  const absent = needed.filter((field) => trigger[field] === undefined)
  for (const field of absent) {
    findings.error('document_invalid', `trigger ${node} of kind ${trigger.kind} needs the field ${field}`, { node })
  }
  if (absent.length === 0) checkTime(node, trigger, options, findings)
}

function checkTime(node: string, trigger: TriggerConfiguration, options: TriggerOptions, findings: Findings): void {
  if (trigger.cron !== undefined && trigger.timezone !== undefined) {
    const parsed = parseCron(trigger.cron, trigger.timezone)
    if (!parsed.ok) findings.error('trigger_invalid', parsed.error, { node })
  }
  if (trigger.at === undefined || trigger.kind !== 'schedule_once') return
  const at = normaliseInstant(trigger.at)
  if (at === undefined) {
    findings.error(
      'trigger_invalid',
      `at is ${JSON.stringify(trigger.at)}: write a date and time that exists, with its offset, for example 2026-12-01T17:00:00+01:00`,
      { node },
    )
    return
  }
  if (Date.parse(at) <= options.now.getTime() && !isApplied(at, options)) {
    findings.error('schedule_once_not_future', `at is ${at}, which has passed: choose a date in the future`, { node })
  }
}

/** A date that is applied already may have passed; the same instant under another offset is the same date. */
function isApplied(at: string, options: TriggerOptions): boolean {
  return (options.appliedTriggers ?? []).some(
    (applied) => applied.kind === 'schedule_once' && applied.at !== undefined && normaliseInstant(applied.at) === at,
  )
}

/** The triggers of the Automation, in an order that does not depend on the document's. */
export function lowerTriggers(nodes: readonly GraphNode[]): AutomationTrigger[] {
  return nodes.flatMap(({ id, trigger }) => {
    if (trigger === undefined) return []
    const lowered: AutomationTrigger = { id, kind: trigger.kind }
    if (trigger.cron !== undefined) lowered.cron = trigger.cron
    if (trigger.timezone !== undefined) lowered.timezone = trigger.timezone
    if (trigger.at !== undefined) lowered.at = trigger.at
    return [lowered]
  })
}
