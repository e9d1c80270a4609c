import { describe, expect, it } from 'vitest'
import type { AutomationFiringStatus } from '../../../../src/api/automation-firing.ts'
import { annotations, settleFinalizer } from '../../../../src/api/labels.ts'
import type { Session } from '../../../../src/api/session.ts'
import { summarizeFiring } from '../../../../src/reconcilers/automation-firing/status.ts'
import { statusOfFailure } from '../../../../src/runtime/status.ts'
import { aFiring, anAutomation, aProgram, inlineContent } from '../../../kit/builders.ts'
import { active, admitted, claimed, reconcile, sessionOf, without, world } from './pass.ts'

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
