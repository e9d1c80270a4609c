import { describe, expect, it } from 'vitest'
import type { AutomationFiring } from '../../../../src/api/automation-firing.ts'
import type { AutomationProgramSpec } from '../../../../src/api/automation-program.ts'
import { annotations, labels } from '../../../../src/api/labels.ts'
import type { Session } from '../../../../src/api/session.ts'
import { digestBytes, digestJson } from '../../../../src/lib/digest.ts'
import { deepFreeze } from '../../../../src/lib/readonly.ts'
import { firingReconciler } from '../../../../src/reconcilers/automation-firing.ts'
import { anAutomation, anEnvironment, aProgram, inlineContent } from '../../../kit/builders.ts'
import { reconcileContext } from '../../../kit/reconcile-context.ts'
import {
  active,
  admitted,
  automation,
  claimed,
  digest,
  environment,
  reconcile,
  serviceAccount,
  sessionOf,
  tools,
  without,
  world,
} from './pass.ts'

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
