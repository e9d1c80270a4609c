import type { AutomationTrigger } from '../api/automation.ts'
import type { TriggerConfiguration, TriggerKind } from '../api/graph-document.ts'
import type { DeepReadonly } from '../lib/readonly.ts'
import { parseCron } from './cron.ts'
import { normaliseInstant } from './instant.ts'

/** Kinds of a trigger that this release knows how to start, with the fields that each needs and no others. */
export const triggerFields: Partial<Record<TriggerKind, readonly (keyof TriggerConfiguration)[]>> = {
  schedule: ['cron', 'timezone'],
  schedule_once: ['at'],
  manual: [],
}

/** An Automation has at most one trigger of each class; the class is what an occurrence's identity is made of. */
export const triggerClasses: Record<TriggerKind, string> = {
  schedule: 'schedule or schedule_once',
  schedule_once: 'schedule or schedule_once',
  webhook: 'webhook or subscription',
  subscription: 'webhook or subscription',
  manual: 'manual',
}

type Trigger = DeepReadonly<AutomationTrigger>

/** What is wrong with the triggers of an Automation written by hand, each in a sentence; empty when they can be run. */
export function triggerProblems(triggers: readonly Trigger[]): string[] {
  const problems = triggers.flatMap(problemsOf)
  const classes = new Map<string, string>()
  for (const { id, kind } of triggers) {
    const other = classes.get(triggerClasses[kind])
    if (other === undefined) classes.set(triggerClasses[kind], id)
    else problems.push(`Triggers ${other} and ${id} are both of the class ${triggerClasses[kind]}; keep one of them.`)
  }
  return problems
}

function problemsOf(trigger: Trigger): string[] {
  const { id, kind } = trigger
  const needed = triggerFields[kind]
  if (needed === undefined) return [`Trigger ${id} has the kind ${kind}, which this release does not run.`]
  const { id: _, kind: __, ...fields } = trigger
  const foreign = Object.entries(fields).filter(([field, value]) => value !== undefined && !isOneOf(needed, field))
  const absent = needed.filter((field) => !(field in fields))
  return [
    ...foreign.map(([field]) => `${field} does not belong to trigger ${id} of kind ${kind}; remove it.`),
    ...absent.map((field) => `Trigger ${id} of kind ${kind} needs the field ${field}.`),
    ...timeProblems(trigger),
  ]
}

function isOneOf(fields: readonly string[], field: string): boolean {
  return fields.includes(field)
}

function timeProblems({ id, kind, cron, timezone, at }: Trigger): string[] {
  if (kind === 'schedule' && cron !== undefined && timezone !== undefined) {
    const parsed = parseCron(cron, timezone)
    return parsed.ok ? [] : [`Trigger ${id}: ${parsed.error}.`]
  }
  if (kind !== 'schedule_once' || at === undefined || normaliseInstant(at) !== undefined) return []
  return [
    `Trigger ${id}: at needs a date and time that exists, with its offset, for example 2026-12-01T17:00:00+01:00.`,
  ]
}
