import { expect, it } from 'vitest'
import type { ToldWrite } from '../../kit/manager-process.ts'
import { doubleWrites, flaps } from './invariants.ts'
import { stageForFile, tell } from './stage.ts'
import { byObject, type Seen, type Version } from './witness.ts'

const stage = stageForFile()

/**
 * What a story costs: every write of the manager, by kind. A change that adds one has to say so here, and why. Statuses
 * may be fewer, where two changes are seen at once. What comes and goes with the scheduler, which says of a pod that it
 * found no node for it while the kubelet of the test takes it, is counted apart.
 */
const cost: Readonly<Record<string, number>> = {
  // Preparing: two Agents are published, and the workspace is made usable.
  'create AgentVersion': 2,
  'apply status Agent': 2,
  'apply ServiceAccount': 1,
  'apply NetworkPolicy': 1,
  'apply status Environment': 1,
  // Planning and applying.
  'create AutomationProgram': 1,
  'create AutomationGraphPlan': 1,
  'apply status AutomationGraphPlan': 3,
  'create Automation': 1,
  'apply status AutomationGraph': 4,
  // Ready, started, ended.
  'apply status Automation': 3,
  // Claimed; admitted, first agent started, second agent started with everything between the two, ended.
  'apply AutomationFiring': 1,
  'apply status AutomationFiring': 4,
  // Its agents have settled: nothing of it has to be cancelled any more before it may go.
  'remove finalizer AutomationFiring': 1,
  // Two agents.
  'create Session': 2,
  'apply status Session': 2 * 5,
  'create Run': 2,
  'apply status Run': 2 * 4,
  'create Job': 2,
}

/** The states that an object goes through, as people see them, each at most once. */
const states: Readonly<Record<string, readonly string[]>> = {
  Agent: ['', 'Published'],
  Environment: ['', 'Usable'],
  // Its Automation may be applied before it is known to be ready.
  AutomationGraph: [
    '',
    'NothingApplied AwaitingApproval',
    'NothingApplied Applying',
    'Checking Applied',
    'Ready Applied',
  ],
  AutomationGraphPlan: ['', 'Pending', 'Pending approved', 'Applying approved', 'Applied approved'],
  Automation: ['', 'Ready 0', 'Ready 1', 'Ready 0 Succeeded'],
  AutomationFiring: ['', 'claimed', 'admitted', 'triage', 'page', 'Succeeded'],
  Session: ['', 'Pending', 'PodPending', 'PodStarting', 'Running', 'Completed'],
  Run: ['', 'PodPending', 'PodStarting', 'Running', 'Running reported', 'Completed reported'],
}

interface AnyStatus {
  readonly phase?: string
  readonly step?: string
  readonly admission?: unknown
  readonly result?: unknown
  readonly active?: readonly unknown[]
  readonly last?: { readonly result: string }
  readonly conditions?: readonly { readonly type: string; readonly reason: string }[]
}

function stateOf({ kind, metadata, spec, status = {} }: Seen): string {
  const { phase, step, admission, result, active, last, conditions = [] } = status as AnyStatus
  const [reason, ...others] = conditions.map(({ reason }) => reason)
  if (kind === 'AutomationFiring') {
    const begun = admission === undefined ? metadata.ownerReferences && 'claimed' : 'admitted'
    return (phase === 'Succeeded' ? phase : (step ?? begun)) ?? ''
  }
  const more = {
    AutomationGraph: others[0],
    AutomationGraphPlan: (spec as { approval?: unknown }).approval && 'approved',
    Automation: active && [active.length, last?.result].filter((part) => part !== undefined).join(' '),
    Run: result && 'reported',
  }[kind]
  return [reason, more].filter((part) => part !== undefined).join(' ')
}

it('a firing costs no more writes than this, none of them is for nothing, and then all is quiet', async () => {
  const { managers, history, namespace } = await tell(stage())
  const writes = managers.flatMap((manager) => manager.writes)
  console.log(`${writes.length} writes of the manager in one story:\n${listed(writes)}`)
  for (const [kind, versions] of Map.groupBy(byObject(history).values(), ([first]) => first?.object.kind ?? '')) {
    for (const one of versions) expectStates(kind, one)
  }
  expect(doubleWrites(history)).toEqual([])
  expect(flaps(withoutScheduler(history))).toEqual([])
  expect(overCost(writes, history)).toEqual({})

  // A manager that starts in a world where all is done keeps the workspace, which changes nothing, and that is all.
  const before = stage().witness.history(namespace).length
  const again = stage().operator.manage(namespace)
  await again.until(({ output }) => output.includes('controllers run'))
  await again.stop()
  expect([...new Set(again.writes.map(({ verb, kind }) => `${verb} ${kind}`))].sort()).toEqual([
    'apply NetworkPolicy',
    'apply ServiceAccount',
  ])
  const later = stage().witness.history(namespace).slice(before)
  expect(later.filter(({ object }) => object.kind in states)).toEqual([])
}, 120_000)

/** A state that is not waited for, and comes of the race between the scheduler and the kubelet of the test. */
function isOfScheduler({ object }: Version): boolean {
  const { conditions = [], message = '' } = (object.status ?? {}) as {
    conditions?: { reason: string }[]
    message?: string
  }
  return conditions.some(({ reason }) => reason === 'Unschedulable') || message.includes('No node takes the pod')
}

function withoutScheduler(history: readonly Version[]): Version[] {
  return history.filter((version) => !isOfScheduler(version))
}

function expectStates(kind: string, versions: readonly Version[]): void {
  const lawful = states[kind]
  if (lawful === undefined) return
  const seen = withoutScheduler(versions).map(({ object }) => stateOf(object))
  const known = lawful.filter((state) => seen.includes(state))
  expect(
    seen.filter((state, index) => state !== seen[index - 1]),
    kind,
  ).toEqual(known)
}

/** Kinds of writes of which there were too many, with how many there were. */
function overCost(writes: readonly ToldWrite[], history: readonly Version[]): Record<string, number> {
  const counts = Map.groupBy(writes, ({ verb, kind }) => `${verb} ${kind}`)
  const found: Record<string, number> = {}
  for (const [what, { length }] of counts) {
    // Each time the scheduler is mentioned, and each time that is over.
    const excused = 2 * history.filter((one) => isOfScheduler(one) && what === `apply status ${one.object.kind}`).length
    if (length > (cost[what] ?? 0) + excused) found[what] = length
  }
  return found
}

function listed(writes: readonly ToldWrite[]): string {
  return writes.map(({ number, verb, kind, name }) => `${number}. ${verb} ${kind} ${name}`).join('\n')
}
