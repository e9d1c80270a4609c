import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import type { Automation, ReadinessEntry } from '../../../../src/api/automation.ts'
import type { AutomationFiring, AutomationFiringSpec } from '../../../../src/api/automation-firing.ts'
import { annotations } from '../../../../src/api/labels.ts'
import type { KubeObject } from '../../../../src/lib/object.ts'
import { deepFreeze } from '../../../../src/lib/readonly.ts'
import { judgePause, type Pausing } from '../../../../src/reconcilers/automation/pausing.ts'
import { aFiring, anAgent, anAutomation } from '../../../kit/builders.ts'
import { reconcileContext } from '../../../kit/reconcile-context.ts'

const now = new Date('2026-11-30T13:00:00.000Z')
const at = (minutes: number) => new Date(Date.parse('2026-11-30T12:00:00.000Z') + minutes * 60_000).toISOString()

function settled(minutes: number, reason?: string, spec: Partial<AutomationFiringSpec> = {}): AutomationFiring {
  const phase = reason === undefined ? ('Succeeded' as const) : ('Failed' as const)
  const name = `nightly-${minutes}`
  const status = { phase, settledAt: at(minutes), ...(reason !== undefined && { reason, message: 'It went wrong.' }) }
  return aFiring({ name, spec: { trigger: 'schedule', occurrence: at(minutes), ...spec }, status })
}

const failed = (...minutes: number[]) => minutes.map((one) => settled(one, 'CommandFailed'))
const gone = (...minutes: number[]) => minutes.map((one) => settled(one, 'PodLost'))

interface Given {
  readonly automation?: Automation
  readonly firings?: readonly AutomationFiring[]
  readonly readiness?: readonly ReadinessEntry[]
  readonly cached?: readonly KubeObject[]
}

function judge({ automation = anAutomation(), firings = [], readiness = [], cached = [] }: Given): Pausing {
  const { read } = reconcileContext({ cached })
  return judgePause(deepFreeze({ automation, firings: [...firings], readiness: [...readiness], read, now }))
}

/** The Automation with what a look at it has recorded. */
function recorded(pausing: Pausing, given: Parameters<typeof anAutomation>[0] = {}): Automation {
  const { failures, pause } = pausing
  return anAutomation({ ...given, status: { failures, ...(pause !== undefined && { pause }) } })
}

const paused = judge({ firings: failed(1, 2, 3) })
const probing = judge({ firings: gone(1, 2, 3) })
const ask = (value: string) => ({ metadata: { annotations: { [annotations.resumeRequested]: value } } })

describe('a pause that begins', () => {
  it('[N-140] [N-146] [N-147] is told once, with the cause and what to do', () => {
    expect(paused.pause).toMatchObject({ reason: 'CommandFailed', since: expect.stringMatching(/Z$/), streak: 3 })
    expect(paused.events).toEqual([
      {
        type: 'Warning',
        reason: 'PausedItself',
        note: '3 firings in a row failed, the last with CommandFailed: It went wrong. Mend the cause, then graphwright resume triage, or fire it by hand: a success resumes it.',
        action: 'Pause',
      },
    ])
    expect(judge({ automation: recorded(paused), firings: failed(1, 2, 3, 4) }).events).toEqual([])
  })

  it('[N-196] is told as well where it is tried again by itself; [N-156] a probe that fails is not', () => {
    expect(probing.events).toMatchObject([{ note: expect.stringContaining('It tries again by itself') }])
    const again = judge({ automation: recorded(probing), firings: gone(1, 2, 3, 20) })
    expect(again.pause).toMatchObject({ streak: 4 })
    expect(again).toMatchObject({ events: [], counts: [] })
  })

  it('[N-161] [N-163] [N-164] is counted once, by a hash in place of the name', () => {
    const hash = createHash('sha256').update('graphwright|default/triage').digest('hex').slice(0, 12)
    expect(paused.counts).toEqual([
      {
        metric: 'automationPaused',
        labels: {
          automation_hash: hash,
          error_code: 'command_failed',
          failure_kind: 'runtime',
          consecutive_failures: '3',
          surface: 'schedule',
        },
      },
    ])
    expect(JSON.stringify(paused.counts)).not.toContain('triage')
  })

  it('counts only firings that the Automation made by itself', () => {
    const byHand = [1, 2, 3].map((one) => settled(one, 'CommandFailed', { trigger: 'manual' }))
    expect(judge({ firings: byHand }).pause).toBeUndefined()
    const events = [1, 2, 3].map((one) => settled(one, 'CommandFailed', { trigger: 'event' }))
    expect(judge({ firings: events }).counts).toMatchObject([{ labels: { surface: 'event' } }])
  })

  it('does not count what was skipped, cancelled or is under way', () => {
    const others = (['Skipped', 'Cancelled', 'Running'] as const).map((phase, index) =>
      aFiring({ name: `other-${index}`, spec: { trigger: 'schedule' }, status: { phase, settledAt: at(index) } }),
    )
    expect(judge({ firings: [...failed(1, 2), ...others] }).pause).toBeUndefined()
  })

  it('[A-219] does not count the firing of a date against the one that was chosen since', () => {
    const triggers = [{ id: 'once', kind: 'schedule_once' as const, at: at(60) }]
    const status = { schedule: { digest: '', changedAt: at(0), once: { at: at(60), phase: 'Pending' as const } } }
    const automation = anAutomation({ spec: { triggers }, status })
    expect(judge({ automation, firings: failed(1, 2, 3) }).failures).toEqual({})
  })
})

describe('[N-198] what ends a pause', () => {
  it('[N-157] [N-162] a probe that succeeds', () => {
    const lifted = judge({ automation: recorded(probing), firings: [...gone(1, 2, 3), settled(20)] })
    expect(lifted).toMatchObject({
      pause: undefined,
      liftedAt: at(20),
      events: [{ type: 'Normal', reason: 'Resumed' }],
      counts: [{ metric: 'automationResumed', labels: { via: 'probe' } }],
    })
  })

  it('[N-160] [N-162] a firing by hand that succeeds', () => {
    const lifted = judge({ automation: recorded(paused), firings: [settled(20, undefined, { trigger: 'manual' })] })
    expect(lifted).toMatchObject({ pause: undefined, liftedAt: at(20), counts: [{ labels: { via: 'run_now' } }] })
    expect(lifted.failures.row).toHaveLength(3)
  })

  it('[N-149] its owner, once for each request', () => {
    const lifted = judge({ automation: recorded(paused, ask('1')), firings: failed(1, 2, 3) })
    expect(lifted).toMatchObject({ pause: undefined, counts: [{ labels: { via: 'owner' } }] })
    expect(lifted.failures).toEqual({ clearedAt: now.toISOString(), resumeSeen: '1' })
    const later = { ...recorded(lifted, ask('1')) }
    expect(judge({ automation: later, firings: failed(61, 62, 63) }).pause).toBeDefined()
  })

  it('[A-150] not its owner while a check fails: the request is refused, and has to be made again', () => {
    const readiness: ReadinessEntry[] = [{ check: 'environment', state: 'Failed', message: 'There is none.' }]
    const refused = judge({ automation: recorded(paused, ask('1')), readiness })
    expect(refused.pause).toBeDefined()
    expect(refused.events).toMatchObject([{ reason: 'ResumeRefused', note: expect.stringContaining('There is none.') }])
    expect(judge({ automation: recorded(refused, ask('1')) }).pause).toBeDefined()
    expect(judge({ automation: recorded(refused, ask('2')) }).pause).toBeUndefined()
  })

  it('[A-151] its owner has to wait while a check could not be made', () => {
    const readiness: ReadinessEntry[] = [{ check: 'agent', state: 'Unknown', message: 'Not looked at yet.' }]
    const waits = judge({ automation: recorded(paused, ask('1')), readiness })
    expect(waits).toMatchObject({ pause: { streak: 3 }, events: [] })
    expect(judge({ automation: recorded(waits, ask('1')) }).pause).toBeUndefined()
  })

  it('a change of what failed: of the spec, or of the version that would run', () => {
    const agentWith = (version: number) =>
      anAgent({ status: { latestVersion: { name: `triager-v${version}`, number: version, digest: '', uid: '' } } })
    const before = judge({ firings: failed(1, 2, 3), cached: [agentWith(1)] })
    expect(judge({ automation: recorded(before), cached: [agentWith(1)] }).pause).toBeDefined()
    const published = judge({ automation: recorded(before), cached: [agentWith(2)] })
    expect(published).toMatchObject({ pause: undefined, counts: [{ labels: { via: 'change' } }] })
    const spec = { target: { agent: { name: 'triager', prompt: 'Better.' } } }
    expect(judge({ automation: recorded(before, { spec }), cached: [agentWith(1)] }).pause).toBeUndefined()
  })

  it('[N-199] not pausing and unpausing by hand', () => {
    for (const isPaused of [true, false]) {
      expect(judge({ automation: recorded(paused, { spec: { paused: isPaused } }) }).pause).toBeDefined()
    }
  })

  it('not a new look, nor firings that are gone', () => {
    const again = judge({ automation: recorded(paused), firings: [] })
    expect(again).toMatchObject({ pause: paused.pause, failures: paused.failures, events: [], counts: [] })
  })
})
