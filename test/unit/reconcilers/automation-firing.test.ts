import { describe, expect, it } from 'vitest'
import type { AutomationFiring, AutomationFiringStatus } from '../../../src/api/automation-firing.ts'
import type { AutomationProgramSpec } from '../../../src/api/automation-program.ts'
import { annotations, labels, settleFinalizer } from '../../../src/api/labels.ts'
import type { Session } from '../../../src/api/session.ts'
import { digestBytes, digestJson } from '../../../src/lib/digest.ts'
import type { KubeObject } from '../../../src/lib/object.ts'
import { ownedBy } from '../../../src/lib/owner-references.ts'
import { deepFreeze } from '../../../src/lib/readonly.ts'
import { summarizeFiring } from '../../../src/reconcilers/automation-firing/status.ts'
import { firingReconciler } from '../../../src/reconcilers/automation-firing.ts'
import { ContentStoreError } from '../../../src/runtime/content-client.ts'
import type { ContentStore } from '../../../src/runtime/content-store.ts'
import { statusOfFailure } from '../../../src/runtime/status.ts'
import {
  aFiring,
  anAgent,
  anAgentVersion,
  anAutomation,
  anEnvironment,
  aProgram,
  inlineContent,
} from '../../kit/builders.ts'
import { lintStatus } from '../../kit/lint-status.ts'
import { type ContextGiven, reconcileContext } from '../../kit/reconcile-context.ts'

const serviceAccount = {
  apiVersion: 'v1',
  kind: 'ServiceAccount',
  metadata: { name: 'triage', namespace: 'default', uid: 'uid-of-account' },
}
const version = anAgentVersion()
const { digest } = version.spec
const agent = anAgent({
  status: { latestVersion: { name: 'triager-v1', number: 1, digest, uid: 'uid-of-triager-v1' } },
})
const active = {
  state: 'Active',
  observedGeneration: 1,
  active: [{ name: 'triage-manual-1', uid: 'uid-of-triage-manual-1' }],
} as const
const automation = anAutomation({ status: structuredClone(active) as never })
const environment = anEnvironment()
const world: readonly KubeObject[] = [automation, environment, serviceAccount, agent, version]

/** A content store in memory, and a validator that takes every text for JSON. */
function tools() {
  const stored = new Map<string, string>()
  const contents: ContentStore = {
    put: async (text) => {
      stored.set(digestBytes(text), text)
      return { digest: digestBytes(text), size: Buffer.byteLength(text) }
    },
    get: async (name) => {
      const text = stored.get(name)
      if (text === undefined) throw new ContentStoreError('unavailable', 'the gateway was not reached')
      return text
    },
  }
  const schemas = { validate: async (text: string) => ({ kind: 'valid', text }) as const }
  return { contents, schemas, stored }
}

async function reconcile(firing: AutomationFiring, given: ContextGiven = {}, using = tools()) {
  const result = await firingReconciler(using)(deepFreeze(firing), reconcileContext({ cached: world, ...given }))
  const { status } = result
  if (status !== undefined) {
    const written = { ...firing, status: { ...status, observedGeneration: 1 } }
    expect(lintStatus(written as never)).toEqual([])
  }
  return result
}

async function admitted(given: ContextGiven = {}): Promise<AutomationFiringStatus> {
  const { status } = await reconcile(aFiring(), given)
  if (status?.admission === undefined) throw new Error(`not admitted: ${status?.reason} ${status?.message}`)
  return status
}

/** A firing as it is once its Automation has it. */
function claimed(given: Parameters<typeof aFiring>[0] = {}): AutomationFiring {
  const own = { [labels.managedBy]: 'graphwright', [labels.automation]: 'triage' }
  const metadata = { labels: own, ownerReferences: [ownedBy(automation)], finalizers: [settleFinalizer] }
  return aFiring({ ...given, metadata: { ...metadata, ...given.metadata } })
}

const without = (...kinds: string[]) => world.filter(({ kind }) => !kinds.includes(kind))

function sessionOf(firing: AutomationFiring, session: Session, status: Session['status']): Session {
  const metadata = { ...session.metadata, uid: `uid-of-${session.metadata.name}`, ownerReferences: [ownedBy(firing)] }
  return { ...session, metadata, ...(status !== undefined && { status }) }
}

describe('a new firing', () => {
  it('[A-009] gets its Automation as owner, and labels', async () => {
    const graphed = { ...automation, metadata: { ...automation.metadata, labels: { [labels.graph]: 'triage' } } }
    const { apply } = await reconcile(aFiring(), { cached: [graphed, ...without('Automation')] })
    expect(apply).toMatchObject([
      {
        kind: 'AutomationFiring',
        metadata: {
          name: 'triage-manual-1',
          labels: { [labels.automation]: 'triage', [labels.graph]: 'triage', [labels.managedBy]: 'graphwright' },
          ownerReferences: [{ kind: 'Automation', uid: 'uid-of-triage', controller: true }],
          finalizers: [settleFinalizer],
        },
      },
    ])
    const owned = aFiring({
      metadata: {
        labels: apply?.[0]?.metadata.labels ?? {},
        ownerReferences: [ownedBy(graphed)],
        finalizers: [settleFinalizer],
      },
    })
    expect((await reconcile(owned, { cached: [graphed, ...without('Automation')] })).apply).toBeUndefined()
  })

  it('waits to be started, and says so', async () => {
    const waiting = anAutomation({ status: { state: 'Active', observedGeneration: 1 } })
    const cached = [waiting, ...without('Automation')]
    // To wait costs no request: the caches alone say so.
    const { status, create } = await reconcile(aFiring(), { cached, live: [] })
    expect(status).toMatchObject({ phase: 'Pending', reason: 'AwaitingStart' })
    expect(status?.admission).toBeUndefined()
    expect(create).toBeUndefined()
  })

  it('says nothing of a wait that is over in a moment', async () => {
    const waiting = anAutomation({ status: { state: 'Active', observedGeneration: 1 } })
    const given = { cached: [waiting, ...without('Automation')], live: [], now: new Date('2026-11-30T12:00:00.500Z') }
    const { status, after } = await reconcile(aFiring(), given)
    expect(status).toBeUndefined()
    expect(after).toBe(1500)
  })

  it('does not end by what a cache does not know yet', async () => {
    const { status } = await reconcile(aFiring(), { cached: without('Automation'), live: world })
    expect(status?.phase).toBe('Running')
    const { status: gone, events } = await reconcile(aFiring(), { cached: without('Automation') })
    expect(gone).toMatchObject({ phase: 'Failed', reason: 'AutomationNotFound', result: 'failed' })
    expect(events).toMatchObject([{ type: 'Warning', reason: 'AutomationNotFound' }])
  })

  it('[A-174] ends Skipped while paused, without a result', async () => {
    const paused = anAutomation({ spec: { paused: true }, status: { state: 'Paused', observedGeneration: 1 } })
    const { status } = await reconcile(aFiring(), { cached: [paused, ...without('Automation')] })
    expect(status).toMatchObject({
      phase: 'Skipped',
      reason: 'Paused',
      conditions: [{ status: 'False', reason: 'Paused' }],
    })
    expect(status?.result).toBeUndefined()
  })

  it('[N-138] [N-139] [N-193] that lacks something leaves its record and nothing else', async () => {
    const readiness = [{ check: 'agent' as const, state: 'Failed' as const, message: 'There is no Agent x.' }]
    const lacking = anAutomation({ status: { state: 'NotReady', observedGeneration: 1, readiness } })
    const { status, create = [] } = await reconcile(claimed(), { cached: [lacking, ...without('Automation')] })
    expect(create).toEqual([])
    expect(status).toMatchObject({
      phase: 'Failed',
      reason: 'NotReady',
      message: expect.stringContaining('no Agent x'),
    })
    expect(status).not.toHaveProperty('admission')
    expect(status).not.toHaveProperty('steps')
  })

  it('[A-317] is admitted with the newest version, the Environment and the ServiceAccount as they are', async () => {
    const { status, create, events } = await reconcile(aFiring())
    expect(create).toBeUndefined()
    expect(status).toMatchObject({
      phase: 'Running',
      startedAt: '2026-11-30T12:00:05.000Z',
      admission: {
        automationUID: 'uid-of-triage',
        automationGeneration: 1,
        entry: 'by-hand',
        agent: { name: 'triager', prompt: 'Triage this.' },
        pins: [{ agent: 'triager', version: 'triager-v1', digest, uid: 'uid-of-triager-v1' }],
        environment: { name: 'default', uid: 'uid-of-default', generation: 1, spec: environment.spec },
        principal: { serviceAccountName: 'triage', uid: 'uid-of-account' },
      },
    })
    expect(events).toMatchObject([{ type: 'Normal', reason: 'Admitted' }])
  })

  it('[A-316] freezes an Environment that was edited a moment before', async () => {
    const edited = anEnvironment({ metadata: { generation: 2 }, spec: { image: 'new:2' } })
    const status = await admitted({ live: [edited, ...without('Environment')] })
    expect(status.admission?.environment).toMatchObject({ generation: 2, spec: { image: 'new:2' } })
  })

  it('is admitted with the program of its graph and the pins of that', async () => {
    const program = aProgram()
    const target = { program: { name: program.metadata.name, digest: program.spec.digest } }
    const graphed = anAutomation({ spec: { target }, status: structuredClone(active) as never })
    const status = await admitted({ cached: [graphed, program, ...without('Automation')] })
    expect(status.admission).toMatchObject({ program: target.program, pins: program.spec.pins })
    expect(status.admission?.agent).toBeUndefined()
  })

  it.each([
    ['of a newer operator, whatever is in it', { formatVersion: 2, program: { nodes: {} } as never }, 'ProgramTooNew'],
    ['of two formats ago', { formatVersion: 0 }, 'ProgramTooOld'],
    ['from which something was taken', { digest: digestJson('whole'), pins: [] }, 'ProgramDamaged'],
  ] as const)('runs nothing of a program %s, and says what to do', async (_, spec, reason) => {
    const program = aProgram({ spec: spec as Partial<AutomationProgramSpec> })
    const target = { program: { name: program.metadata.name, digest: program.spec.digest } }
    const graphed = anAutomation({ spec: { target }, status: structuredClone(active) as never })
    const cached = [graphed, program, ...without('Automation')]
    const { status, create } = await reconcile(aFiring(), { cached })
    expect(status).toMatchObject({ phase: 'Failed', result: 'failed', reason, message: expect.stringMatching(/\.$/) })
    expect(create ?? []).toEqual([])
  })

  it.each([
    ['Environment', 'EnvironmentMissing'],
    ['ServiceAccount', 'ServiceAccountMissing'],
    ['Agent', 'AgentMissing'],
  ])('[A-159] fails without its %s', async (kind, reason) => {
    const { status } = await reconcile(aFiring(), { cached: without(kind) })
    expect(status).toMatchObject({ phase: 'Failed', reason, result: 'failed' })
  })
})

describe('an admitted firing', () => {
  it('[A-280] creates the Session of its first step from what was frozen, then records it', async () => {
    const firing = claimed({ spec: { event: { n: 1 } }, status: await admitted() })
    const edited = anEnvironment({ spec: { image: 'edited:9' } })
    const { create, status, events } = await reconcile(firing, { cached: [edited, ...without('Environment')] })
    expect(create).toHaveLength(1)
    expect(create?.[0]).toMatchObject({
      kind: 'Session',
      metadata: { namespace: 'default', labels: { [labels.firing]: 'triage-manual-1', [labels.step]: 'agent' } },
      spec: {
        firing: { name: 'triage-manual-1', uid: 'uid-of-triage-manual-1' },
        step: 'agent',
        agentVersion: { name: 'triager-v1', uid: 'uid-of-triager-v1', digest },
        environment: { name: 'default', spec: environment.spec },
        serviceAccountName: 'triage',
        input: { prompt: inlineContent('Triage this.') },
      },
    })
    expect(status).toMatchObject({ phase: 'Running', step: 'agent', steps: { agent: { kind: 'running' } } })
    expect(events).toMatchObject([{ reason: 'StepStarted', note: 'Step agent started.' }])
  })

  it('[A-318] [A-301] wants the very same Session after a crash', async () => {
    const firing = claimed({ status: await admitted() })
    const first = await reconcile(firing)
    const second = await reconcile(firing, { now: new Date('2026-11-30T13:00:00Z') })
    expect(second.create).toEqual(first.create)
  })

  it('reads the Automation live before the first effect', async () => {
    const firing = claimed({ status: await admitted() })
    const settledLong = anAutomation({ status: { state: 'Active', observedGeneration: 1, active: [] } })
    const live = [settledLong, ...without('Automation')]
    await expect(reconcile(firing, { live })).rejects.toMatchObject({ reason: 'NotStarted' })
  })

  it('[A-163] refuses a Session once the Environment is gone, and does not believe the cache alone', async () => {
    const firing = claimed({ status: await admitted() })
    const gone = without('Environment')
    const { status, create } = await reconcile(firing, { cached: gone })
    expect(create).toEqual([])
    expect(status).toMatchObject({
      phase: 'Failed',
      reason: 'EnvironmentMissing',
      step: 'agent',
      steps: { agent: { kind: 'failed', reason: 'environment_missing' } },
    })
    expect((await reconcile(firing, { cached: gone, live: world })).create).toHaveLength(1)
    const successor = anEnvironment({ metadata: { uid: 'uid-of-another' } })
    expect((await reconcile(firing, { cached: [successor, ...gone] })).status?.reason).toBe('EnvironmentMissing')
  })

  it('[A-193] [A-294] [A-318] [A-300] refuses a Session once the ServiceAccount is another', async () => {
    const firing = claimed({ status: await admitted() })
    const other = { ...serviceAccount, metadata: { ...serviceAccount.metadata, uid: 'uid-of-another' } }
    const { status } = await reconcile(firing, { cached: [other, ...without('ServiceAccount')] })
    expect(status).toMatchObject({ phase: 'Failed', reason: 'ServiceAccountMissing' })
  })

  async function underWay(session: Session['status']) {
    const fresh = claimed({ status: await admitted() })
    const { create, status } = await reconcile(fresh)
    const firing = claimed({ ...(status !== undefined && { status }) })
    return { firing, cached: [...world, sessionOf(firing, create?.[0] as Session, session)] }
  }

  it('ends Succeeded with the output of its agent', async () => {
    const { firing, cached } = await underWay({ phase: 'Succeeded', output: inlineContent('all good') })
    const { status, events } = await reconcile(firing, { cached, now: new Date('2026-11-30T12:03:10Z') })
    expect(status).toMatchObject({
      phase: 'Succeeded',
      result: 'completed',
      output: inlineContent('all good'),
      duration: '3m5s',
      conditions: [{ type: 'Succeeded', status: 'True' }],
    })
    expect(status?.reason).toBeUndefined()
    expect(status?.step).toBeUndefined()
    expect(events).toMatchObject([{ type: 'Normal', reason: 'Succeeded' }])
    const ended = claimed({ ...(status !== undefined && { status }) })
    expect(await reconcile(ended, { cached })).toEqual({ annotate: [], finalized: true })
  })

  it('shows the cause of the failed step in its column', async () => {
    const failure = {
      phase: 'Failed',
      reason: 'OOMKilled',
      message: 'the command needed more memory than its limit',
    } as const
    const { firing, cached } = await underWay(failure)
    const { status, events } = await reconcile(firing, { cached })
    expect(status).toMatchObject({
      phase: 'Failed',
      reason: 'OOMKilled',
      message: 'Step agent failed: the command needed more memory than its limit',
      step: 'agent',
      result: 'failed',
      conditions: [{ status: 'False', reason: 'OOMKilled' }],
    })
    expect(events).toMatchObject([{ reason: 'StepFailed' }, { reason: 'Failed' }])
  })

  it('[A-172] [A-173] waits before its next Session while somebody has paused its Automation, for as long as it takes', async () => {
    const firing = claimed({ status: await admitted() })
    const paused = { ...automation, spec: { ...automation.spec, paused: true } }
    const held = await reconcile(firing, { live: [paused, ...without('Automation')] })
    expect(held.create).toEqual([])
    expect(held.status).toMatchObject({ phase: 'Waiting', reason: 'AutomationPaused', step: 'agent' })
    expect(held.status?.steps).toEqual({})
    const waiting = claimed({ ...(held.status !== undefined && { status: held.status }) })
    const days = new Date('2026-12-10T12:00:00Z')
    const later = await reconcile(waiting, { live: [paused, ...without('Automation')], now: days })
    expect(later.status).toMatchObject({ phase: 'Waiting', reason: 'AutomationPaused' })
    const resumed = await reconcile(waiting, { now: days })
    expect(resumed.create).toEqual((await reconcile(firing)).create)
    expect(resumed.status).toMatchObject({ phase: 'Running', admission: firing.status?.admission })
  })

  it('[A-171] goes through with what it has begun, whatever the caches show by then', async () => {
    const paused = { ...automation, spec: { ...automation.spec, paused: true } }
    const seen = { cached: [paused, ...without('Automation')], live: world }
    const { create } = await reconcile(claimed({ status: await admitted() }), seen)
    expect(create).toHaveLength(1)
  })

  it('[N-173] takes nothing for deleted because it could not be read', async () => {
    const given = reconcileContext({ cached: without('ServiceAccount'), live: world })
    const find = async (type: { kind: string }, ...rest: unknown[]) => {
      if (type.kind === 'ServiceAccount') throw new Error('the API server is away')
      return await (given.live.find as (...all: unknown[]) => Promise<unknown>)(type, ...rest)
    }
    const firing = deepFreeze(claimed({ status: await admitted() }))
    const pass = firingReconciler(tools())(firing, { ...given, live: { find } as never })
    await expect(pass).rejects.toThrow('the API server is away')
  })

  it('[A-282] [A-285] [A-286] an unfinished child leaves it unfinished, whatever its Run has come to', async () => {
    const { firing, cached } = await underWay({ phase: 'Running', runs: 1 } as Session['status'])
    const { status, create } = await reconcile(firing, { cached })
    expect(create).toEqual([])
    expect(status).toMatchObject({ phase: 'Running', steps: { agent: { kind: 'running' } } })
    expect(status?.result).toBeUndefined()
  })

  it('[N-154] [N-160] is not held by a pause that its Automation made itself', async () => {
    const pause = { reason: 'PodLost', message: '', class: 'Transient', since: '', streak: 3, firing: 'x' } as const
    const itself = anAutomation({ status: { ...structuredClone(active), state: 'Paused', pause } as never })
    const { create } = await reconcile(claimed({ status: await admitted() }), {
      live: [itself, ...without('Automation')],
    })
    expect(create).toHaveLength(1)
  })

  it('[A-508] waits where nobody knows what became of the work', async () => {
    const { firing, cached } = await underWay({ phase: 'Indeterminate', message: 'the node was lost' })
    const { status } = await reconcile(firing, { cached })
    expect(status).toMatchObject({
      phase: 'Waiting',
      reason: 'OutcomeUnknown',
      steps: { agent: { kind: 'running', reason: 'outcome_unknown' } },
      conditions: [{ status: 'Unknown', reason: 'OutcomeUnknown' }],
    })
    expect(status?.result).toBeUndefined()
  })

  it('[N-175] is closed when nothing of it has moved for more than 25 hours, also where nobody knows', async () => {
    const before = claimed({ status: await admitted() })
    const started = { ...before, status: (await reconcile(before)).status } as AutomationFiring
    const [created] = (await reconcile(before)).create as Session[]
    const indeterminate = { phase: 'Indeterminate', reason: 'ResultMissing' } as Session['status']
    const cached = [...world, sessionOf(started, created as Session, indeterminate)]
    const at = (millis: number) => new Date(Date.parse(started.status?.startedAt ?? '') + millis)
    const waits = await reconcile(started, { cached, now: at(24 * 3_600_000) })
    expect(waits.status).toMatchObject({ phase: 'Waiting', reason: 'OutcomeUnknown' })
    expect(waits.after).toBe(3_600_001)
    const closed = await reconcile(started, { cached, now: at(25 * 3_600_000 + 1) })
    expect(closed.status).toMatchObject({
      phase: 'Failed',
      reason: 'Interrupted',
      result: 'failed',
      steps: { agent: { kind: 'failed', reason: 'automation_run_abandoned' } },
    })
    expect(closed.events).toMatchObject([{ type: 'Warning', reason: 'Interrupted' }])
  })

  it.each([
    ['ProgramTooNew', { formatVersion: 2, program: { nodes: {} } as never }],
    ['ProgramTooOld', { formatVersion: 0 }],
    ['ProgramDamaged', { digest: digestJson('whole') }],
  ] as const)('%s: it waits for an operator that reads its program, and can be cancelled', async (reason, spec) => {
    const [whole, strange] = [aProgram(), aProgram({ spec: spec as Partial<AutomationProgramSpec> })]
    const { agent: _, ...admission } = (await admitted()).admission ?? {}
    const firingOf = ({ metadata, spec: { digest: its } }: typeof whole, asked = {}) => {
      const frozen = { ...admission, entry: 'by-hand', program: { name: metadata.name, digest: its } }
      return claimed({
        metadata: { annotations: asked },
        status: { phase: 'Running', admission: frozen } as AutomationFiring['status'],
      })
    }
    await expect(reconcile(firingOf(strange), { cached: [strange, ...world] })).rejects.toMatchObject({ reason })
    const cancelled = firingOf(strange, { [annotations.cancelRequested]: 'not worth it' })
    expect((await reconcile(cancelled, { cached: [strange, ...world] })).status).toMatchObject({ phase: 'Cancelled' })
    const { create } = await reconcile(firingOf(whole), { cached: [whole, ...world] })
    expect(create).toMatchObject([{ kind: 'Session', spec: { step: 'triage' } }])
  })

  it('[N-175] is closed also where it waits for something that never comes', async () => {
    const { digest } = aProgram().spec
    const admission = { ...(await admitted()).admission, program: { name: 'triage-program', digest } }
    const { agent: _, ...rest } = admission
    const firing = claimed({ status: { phase: 'Running', admission: rest } as AutomationFiring['status'] })
    await expect(reconcile(firing)).rejects.toMatchObject({ reason: 'ProgramMissing', afterMillis: 25 * 3_600_000 + 1 })
    const now = new Date(Date.parse(rest.admittedAt ?? '') + 26 * 3_600_000)
    expect((await reconcile(firing, { now })).status).toMatchObject({ reason: 'Interrupted' })
  })

  it('does not take the Session of another firing for its own, whatever that is made to say', async () => {
    const { firing, cached } = await underWay({ phase: 'Running' })
    const own = cached.at(-1) as Session
    const theirs = { phase: 'Succeeded', output: inlineContent('theirs') } as const
    const borrowed = structuredClone(sessionOf(firing, own, theirs)) as Session
    borrowed.metadata.name = 'of-another'
    borrowed.spec.firing.uid = 'uid-of-another'
    const { status } = await reconcile(firing, { cached: [...cached, borrowed] })
    expect(status).toMatchObject({ phase: 'Running', steps: { agent: { kind: 'running' } } })
  })

  it('a Session that the cache does not show is looked for before it counts as deleted', async () => {
    const { firing, cached } = await underWay({ phase: 'Running' })
    const { status } = await reconcile(firing, { cached: world, live: cached })
    expect(status).toMatchObject({ phase: 'Running', steps: { agent: { kind: 'running' } } })
    const { status: lost } = await reconcile(firing, { cached: world })
    expect(lost).toMatchObject({ phase: 'Failed', reason: 'SessionDeleted' })
  })

  it('stores what is too large before it is named, and waits for a gateway that is away', async () => {
    const { entries, steps } = aProgram().spec.program
    const verdict: (typeof steps)[number] = {
      id: 'verdict',
      kind: 'parse_json',
      after: [{ id: 'triage' }],
      output: 'triage',
      schema: { type: 'string' },
    }
    const program = aProgram({ spec: { program: { entries, steps: [...steps, verdict] } } })
    const target = { program: { name: program.metadata.name, digest: program.spec.digest } }
    const graphed = anAutomation({ spec: { target }, status: structuredClone(active) as never })
    const cached = [graphed, program, ...without('Automation')]
    const fresh = claimed({ status: await admitted({ cached }) })
    const { create, status } = await reconcile(fresh, { cached })
    const firing = claimed({ ...(status !== undefined && { status }) })
    const large = JSON.stringify('x'.repeat(9000))
    const output = { digest: digestBytes(large), size: large.length }
    const seen = [...cached, sessionOf(firing, create?.[0] as Session, { phase: 'Succeeded', output })]

    await expect(reconcile(firing, { cached: seen })).rejects.toMatchObject({ reason: 'ContentUnavailable' })
    const using = tools()
    using.stored.set(output.digest, large)
    const { status: ended } = await reconcile(firing, { cached: seen }, using)
    expect(ended).toMatchObject({ phase: 'Succeeded', steps: { verdict: { kind: 'completed', output } } })
    expect(using.stored.get(output.digest)).toBe(large)
  })
})

describe('a firing that is to end', () => {
  const asked = { [annotations.cancelRequested]: 'wrong event' }
  const why = 'by request (wrong event)'

  it('[A-290] ends Cancelled without a Session where nothing was started for it', async () => {
    const { status, create, finalized } = await reconcile(claimed({ metadata: { annotations: asked } }))
    expect(create).toBeUndefined()
    expect(status).toMatchObject({
      phase: 'Cancelled',
      reason: 'Cancelled',
      result: 'cancelled',
      message: `It was cancelled ${why} before anything was started for it.`,
      conditions: [{ type: 'Succeeded', status: 'False', reason: 'Cancelled' }],
    })
    expect(finalized).toBe(true)
  })

  it('ends without a Session where it was admitted and no step had started', async () => {
    const firing = claimed({ metadata: { annotations: asked }, status: await admitted() })
    const { status, create } = await reconcile(firing)
    expect(create).toEqual([])
    expect(status).toMatchObject({ phase: 'Cancelled', result: 'cancelled', message: `It was cancelled ${why}.` })
  })

  async function underWay(session: Session['status'], metadata: Parameters<typeof aFiring>[0] = {}) {
    const { create, status } = await reconcile(claimed({ status: await admitted() }))
    const firing = claimed({ ...metadata, ...(status !== undefined && { status }) })
    const made = sessionOf(firing, create?.[0] as Session, session)
    return { firing, made, cached: [...world, made] }
  }

  it('[A-290] has its Sessions end, and says what it waits for', async () => {
    const { firing, made, cached } = await underWay({ phase: 'Running' }, { metadata: { annotations: asked } })
    const { status, annotate, finalized, create } = await reconcile(firing, { cached })
    expect(annotate).toMatchObject([
      {
        ref: { kind: 'Session', name: made.metadata.name },
        annotations: { [annotations.cancelRequested]: 'wrong event' },
      },
    ])
    expect([create, finalized]).toEqual([[], undefined])
    expect(status).toMatchObject({
      phase: 'Running',
      reason: 'Cancelling',
      message: `It is being cancelled ${why}; what is under way is told to end: agent.`,
      steps: { agent: { kind: 'running' } },
    })
  })

  it('to delete it is to cancel it, also without its program', async () => {
    const deleted = { metadata: { deletionTimestamp: '2026-11-30T12:00:04Z' } }
    const { firing, cached } = await underWay({ phase: 'Running' }, deleted)
    const { annotate, apply } = await reconcile(firing, { cached })
    expect(annotate).toMatchObject([{ annotations: { [annotations.cancelRequested]: 'the firing was deleted' } }])
    expect(apply).toBeUndefined()

    const { admission, ...rest } = firing.status ?? {}
    const { agent: _, ...frozen } = admission ?? {}
    const program = { name: 'gone', digest: `sha256:${'0'.repeat(64)}` }
    const graphed = claimed({ ...deleted, status: { ...rest, admission: { ...frozen, program } } as never })
    const { status, finalized } = await reconcile(graphed, {
      cached: [...without('Automation'), { ...(cached.at(-1) as Session), status: { phase: 'Cancelled' } } as Session],
    })
    expect(status).toMatchObject({ phase: 'Cancelled', steps: { agent: { kind: 'failed', reason: 'cancelled' } } })
    expect(finalized).toBe(true)
  })

  it('[A-291] does not wait for what nobody can know, and says so', async () => {
    const lost = { phase: 'Indeterminate', message: 'the node was lost' } as const
    const { firing, cached } = await underWay(lost, { metadata: { annotations: asked } })
    const { status, annotate } = await reconcile(firing, { cached })
    expect(annotate).toEqual([])
    expect(status).toMatchObject({
      phase: 'Cancelled',
      result: 'cancelled',
      message: `It was cancelled ${why}. What became of agent is not known: look at what was done.`,
      steps: { agent: { kind: 'failed', reason: 'outcome_unknown', message: 'the node was lost' } },
    })
  })

  it('a Session that no cache shows yet is not left behind', async () => {
    const { firing, made } = await underWay({ phase: 'Pending' }, { metadata: { annotations: asked } })
    const { steps: _, ...unrecorded } = firing.status ?? {}
    const { status, annotate } = await reconcile(
      { ...firing, status: unrecorded },
      { cached: world, live: [...world, made] },
    )
    expect(annotate).toMatchObject([{ ref: { name: made.metadata.name } }])
    expect(status?.phase).toBe('Running')
  })

  it('what ended by itself first has its own result', async () => {
    const done = { phase: 'Succeeded', output: inlineContent('done') } as const
    const { firing, cached } = await underWay(done, { metadata: { annotations: asked } })
    expect((await reconcile(firing, { cached })).status).toMatchObject({ phase: 'Succeeded', result: 'completed' })
    const failure = { phase: 'Failed', reason: 'OOMKilled' } as const
    const failed = await underWay(failure, { metadata: { annotations: asked } })
    const { status } = await reconcile(failed.firing, { cached: failed.cached })
    expect(status).toMatchObject({ phase: 'Failed', reason: 'OOMKilled', result: 'failed' })
  })

  it('has a Session end that was made for it after it had settled, and is kept until then', async () => {
    const { made } = await underWay({ phase: 'Running' })
    const settled = claimed({ status: { phase: 'Cancelled', result: 'cancelled' } })
    const first = await reconcile(settled, { cached: [...world, made] })
    expect(first).toMatchObject({ annotate: [{ ref: { name: made.metadata.name } }], finalized: false })
    const ended = { ...made, status: { phase: 'Cancelled' as const } }
    expect(await reconcile(settled, { cached: [...world, ended] })).toEqual({ annotate: [], finalized: true })
  })

  it('goes at once where people insist', async () => {
    const insisted = { deletionTimestamp: '2026-11-30T12:00:04Z', annotations: { [annotations.forceDelete]: '' } }
    const { firing, cached } = await underWay({ phase: 'Running' }, { metadata: insisted })
    expect(await reconcile(firing, { cached })).toEqual({ finalized: true })
    const alive = await underWay({ phase: 'Running' }, { metadata: { annotations: { [annotations.forceDelete]: '' } } })
    expect((await reconcile(alive.firing, { cached: alive.cached })).finalized).toBeUndefined()
  })

  it('needs no finalizer where no agent works for it', async () => {
    const { entries } = aProgram().spec.program
    const steps = [{ id: 'd', kind: 'decision' as const, after: [{ id: 'by-hand' }] }]
    const program = aProgram({ spec: { program: { entries, steps } } })
    const target = { program: { name: program.metadata.name, digest: program.spec.digest } }
    const graphed = anAutomation({ spec: { target }, status: structuredClone(active) as never })
    const { apply } = await reconcile(aFiring(), { cached: [graphed, program, ...without('Automation')] })
    expect(apply?.[0]?.metadata.finalizers).toBeUndefined()
  })

  it('gets its finalizer before its first Session, whatever its Automation was when it was claimed', async () => {
    const firing = claimed({ metadata: { finalizers: [] }, status: await admitted() })
    expect(await reconcile(firing)).toEqual({
      apply: [expect.objectContaining({ metadata: expect.objectContaining({ finalizers: [settleFinalizer] }) })],
    })
  })
})

describe('the columns of a firing whose pass failed', () => {
  const rules = { ready: 'Succeeded', summarize: summarizeFiring as never } as const
  const now = new Date('2026-11-30T12:00:05Z')

  it('show what is waited for, and go back when that is over', async () => {
    const firing = claimed({ status: await admitted() })
    const failure = { kind: 'waiting', reason: 'ContentUnavailable', message: 'The gateway is away.' } as const
    const waiting = statusOfFailure(firing as never, failure, rules, now)
    expect(waiting).toMatchObject({ phase: 'Waiting', reason: 'ContentUnavailable', message: 'The gateway is away.' })
    const { status } = await reconcile(claimed({ status: waiting as AutomationFiringStatus }))
    expect(status?.phase).toBe('Running')
    expect(status?.reason).toBeUndefined()
  })

  it('show a verdict that the runtime came to', async () => {
    const firing = claimed({ status: await admitted() })
    const failure = { kind: 'stalled', reason: 'NameConflict', message: 'Session x exists already.' } as const
    expect(statusOfFailure(firing as never, failure, rules, now)).toMatchObject({
      phase: 'Failed',
      reason: 'NameConflict',
      result: 'failed',
      settledAt: '2026-11-30T12:00:05Z',
    })
  })
})
