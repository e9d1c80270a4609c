import { expect } from 'vitest'
import type { AutomationStatus } from '../../../src/api/automation.ts'
import { type AutomationFiringStatus, terminalOutcomeKinds } from '../../../src/api/automation-firing.ts'
import type { AutomationGraphPlanStatus } from '../../../src/api/automation-graph-plan.ts'
import type { RunStatus } from '../../../src/api/run.ts'
import type { SessionStatus } from '../../../src/api/session.ts'
import { byObject, everSeen, type Seen, type Version } from './witness.ts'

/** What must hold of everything that a {@link Witness} saw of a story, whoever died in it. */

/** How many objects of each kind there ever were, those that were deleted again included. */
const everMade: Readonly<Record<string, number>> = {
  AutomationGraph: 1,
  AutomationGraphPlan: 1,
  AutomationProgram: 1,
  Automation: 1,
  AutomationFiring: 1,
  AgentVersion: 2,
  Session: 2,
  Run: 2,
  Job: 2,
  Pod: 2,
}

/** Phases in the order in which they may follow each other. `Waiting` may come and go between those before the last. */
const order: Readonly<Record<string, readonly string[]>> = {
  AutomationGraphPlan: ['Pending', 'Approved', 'Applying', 'Applied'],
  AutomationFiring: ['Pending', 'Running', 'Succeeded'],
  Session: ['Pending', 'Running', 'Succeeded'],
  Run: ['Pending', 'Running', 'Succeeded'],
}

/**
 * One of everything, no phase goes back, and nothing that is written once is written twice.
 * @param options.hasGaps some versions may not have been seen: watches end where a definition changes
 */
export function expectLawfulHistory(history: readonly Version[], options: { readonly hasGaps?: boolean } = {}): void {
  const counts = Object.keys(everMade).map((kind) => [kind, everSeen(history, kind).length])
  expect(Object.fromEntries(counts)).toEqual(everMade)
  for (const versions of byObject(history).values()) {
    const objects = versions.map(({ object }) => object)
    expectOrderedPhases(objects)
    for (const [index, object] of objects.entries()) {
      const before = objects[index - 1]
      if (before !== undefined) expectWrittenOnce(before, object)
    }
  }
  const seen = starts(history)
  expect(options.hasGaps === true ? Math.max(seen, 1) : seen, 'starts of the firing').toBe(1)
}

/** How often a firing became active. */
function starts(history: readonly Version[]): number {
  const active = history
    .filter(({ object }) => object.kind === 'Automation')
    .map(({ object }) => ((object.status ?? {}) as AutomationStatus).active?.length ?? 0)
  return active.filter((count, index) => count > (active[index - 1] ?? 0)).length
}

function expectOrderedPhases(objects: readonly Seen[]): void {
  const [first] = objects
  const lawful = order[first?.kind ?? '']
  if (lawful === undefined) return
  const phases = objects.flatMap(({ status }) => (status as { phase?: string } | undefined)?.phase ?? [])
  const passed = phases.filter((phase) => phase !== 'Waiting').map((phase) => lawful.indexOf(phase))
  const said = `${first?.kind} went through ${phases.join(', ')}`
  expect(passed, said).toEqual([...passed].sort((a, b) => a - b))
  expect(passed, said).not.toContain(-1)
  expect(phases.at(-1), said).toBe(lawful.at(-1))
}

function expectWrittenOnce(before: Seen, after: Seen): void {
  const what = `${after.kind} ${after.metadata.name} at ${after.metadata.resourceVersion}`
  for (const [field, value] of Object.entries(onceOf(before))) {
    expect(onceOf(after)[field], `${field} of ${what}`).toEqual(value)
  }
}

/** What of an object is written once and stays. */
function onceOf(object: Seen): Record<string, unknown> {
  const status = object.status ?? {}
  switch (object.kind) {
    case 'AutomationFiring':
      return once({ ...firingOnce(status), spec: object.spec })
    case 'AutomationGraphPlan': {
      const { journal = [] } = status as AutomationGraphPlanStatus
      const entries = journal.map((entry, index) => [`journal[${index}]`, entry])
      return once({ ...Object.fromEntries(entries), approval: (object.spec as { approval?: unknown }).approval })
    }
    case 'Automation':
      return once({ last: (status as AutomationStatus).last, spec: object.spec })
    case 'Run': {
      const { incarnation, result, settledAt, startedAt } = status as RunStatus
      const { number, jobUID, podUID } = incarnation ?? {}
      const settled = settledAt === undefined ? {} : { settled: status }
      return once({ number, jobUID, podUID, result, startedAt, ...settled })
    }
    case 'Session': {
      const { phase } = status as SessionStatus
      return once({ spec: object.spec, ...(phase === 'Succeeded' && { settled: status }) })
    }
    default:
      return {}
  }
}

function firingOnce(status: AutomationFiringStatus): Record<string, unknown> {
  const { admission, steps = {}, result, settledAt } = status
  const terminal: readonly string[] = terminalOutcomeKinds
  const outcomes = Object.entries(steps).filter(([, { kind }]) => terminal.includes(kind))
  const told = Object.fromEntries(outcomes.map(([id, outcome]) => [`outcome of ${id}`, outcome]))
  // Which Session works for a step never changes either.
  const sessions = Object.entries(steps).map(([id, { session }]) => [`session of ${id}`, session])
  const settled = settledAt === undefined ? {} : { settled: status }
  return { admission, result, ...told, ...Object.fromEntries(sessions), ...settled }
}

function once(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
}

/** Versions that say again what an earlier one has said, with something else in between: a status that flaps. */
export function flaps(history: readonly Version[]): string[] {
  return repetitions(history, (index, earlier) => earlier < index - 1)
}

/** Versions that say the same as the one right before: writes for nothing. */
export function doubleWrites(history: readonly Version[]): string[] {
  return repetitions(history, (index, earlier) => earlier === index - 1)
}

const ours = new Set([
  ...['Agent', 'AgentVersion', 'Environment', 'AutomationGraph', 'AutomationGraphPlan', 'AutomationProgram'],
  ...['Automation', 'AutomationFiring', 'Session', 'Run'],
])

function repetitions(history: readonly Version[], counts: (index: number, earlier: number) => boolean): string[] {
  const found: string[] = []
  for (const versions of byObject(history.filter(({ object }) => ours.has(object.kind))).values()) {
    const said = versions.map(({ object }) => saidBy(object))
    for (const [index, { object }] of versions.entries()) {
      const earlier = said.lastIndexOf(said[index] ?? '', index - 1)
      if (index > 0 && earlier >= 0 && counts(index, earlier)) {
        found.push(`${object.kind} ${object.metadata.name} at ${object.metadata.resourceVersion}: ${said[index]}`)
      }
    }
  }
  return found
}

/** What an object says, without when. */
function saidBy({ metadata, spec, status }: Seen): string {
  const { labels, ownerReferences, finalizers, deletionTimestamp } = metadata
  const withoutTimes = (key: string, value: unknown) => (key === 'lastTransitionTime' ? undefined : value)
  return JSON.stringify([labels, ownerReferences, finalizers, deletionTimestamp, spec, status], withoutTimes)
}
