import { describe, expect, it } from 'vitest'
import type { AutomationStatus } from '../../../src/api/automation.ts'
import { firingPhases } from '../../../src/api/automation-firing.ts'
import type { AutomationGraphStatus } from '../../../src/api/automation-graph.ts'
import { planPhases } from '../../../src/api/automation-graph-plan.ts'
import { kinds } from '../../../src/api/kinds.ts'
import { workPhases } from '../../../src/api/session.ts'
import type { Condition } from '../../../src/lib/object.ts'
import { healthOf, healthScripts } from '../../kit/argo-health.ts'
import { aFiring, aGraph, anAgent, anAutomation, anEnvironment, aPlan, aRun, aSession } from '../../kit/builders.ts'

const words = ['Healthy', 'Progressing', 'Degraded', 'Suspended']

function condition(type: string, status: Condition['status'], reason: string): Condition {
  const lastTransitionTime = '2026-11-30T12:00:00Z'
  return { type, status, reason, message: `${reason} in words.`, lastTransitionTime, observedGeneration: 1 }
}

describe('the scripts for Argo CD', () => {
  it('are there for every kind that has a status, and no other', () => {
    // Records: they are made once, and nobody says anything of them afterwards.
    const records = ['AgentVersion', 'AutomationProgram']
    const others = kinds.map(({ kind }) => kind as string).filter((kind) => !records.includes(kind))
    expect([...healthScripts().keys()].toSorted()).toEqual(others.map((kind) => `graphwright.dev_${kind}`).toSorted())
  })

  it.each([aGraph, aPlan, anAutomation, aFiring, aSession, aRun, anAgent, anEnvironment])(
    'wait for an operator that has not looked yet, and while something is deleted (%#)',
    async (build) => {
      const fresh = build({})
      expect(await healthOf({ ...fresh, status: undefined } as never)).toMatchObject({ status: 'Progressing' })
      const leaving = build({ metadata: { deletionTimestamp: '2026-11-30T12:00:00Z' } })
      expect(await healthOf(leaving)).toEqual({ status: 'Progressing', message: 'It is being deleted.' })
    },
  )

  it('say of every phase what it is', async () => {
    const shown = async (phases: readonly string[], build: (phase: never) => Parameters<typeof healthOf>[0]) =>
      Object.fromEntries(
        await Promise.all(phases.map(async (phase) => [phase, (await healthOf(build(phase as never))).status])),
      )
    const work = {
      Pending: 'Progressing',
      Running: 'Progressing',
      Waiting: 'Progressing',
      Succeeded: 'Healthy',
      Failed: 'Degraded',
      Cancelled: 'Healthy',
    }
    expect(await shown(firingPhases, (phase) => aFiring({ status: { phase } }))).toEqual({
      ...work,
      Skipped: 'Healthy',
    })
    expect(await shown(workPhases, (phase) => aSession({ status: { phase } }))).toEqual({
      ...work,
      Indeterminate: 'Degraded',
    })
    expect(await shown(workPhases, (phase) => aRun({ status: { phase } }))).toEqual({
      ...work,
      Indeterminate: 'Degraded',
    })
    expect(await shown(planPhases, (phase) => aPlan({ status: { phase } }))).toEqual({
      Blocked: 'Degraded',
      Pending: 'Suspended',
      Approved: 'Progressing',
      Applying: 'Progressing',
      Applied: 'Healthy',
      Stale: 'Healthy',
      Failed: 'Degraded',
    })
  })

  it('call for a person where one is waited for', async () => {
    const waiting = (reason: string) => healthOf(aFiring({ status: { phase: 'Waiting', reason, message: 'Why.' } }))
    expect(await waiting('OutcomeUnknown')).toEqual({ status: 'Degraded', message: 'Why.' })
    expect(await waiting('QuotaExceeded')).toEqual({ status: 'Progressing', message: 'Why.' })
    const pending = aFiring({ status: { phase: 'Pending', reason: 'AwaitingResume' } })
    expect(await healthOf(pending)).toEqual({ status: 'Suspended', message: 'AwaitingResume' })
  })

  it.each<[string, Partial<AutomationStatus>, boolean, string, string]>([
    ['active', { state: 'Active', next: 'when fired by hand' }, false, 'Healthy', 'when fired by hand'],
    ['paused by hand', { state: 'Paused' }, true, 'Suspended', 'Paused by hand.'],
    [
      'not ready',
      { state: 'NotReady', readiness: [{ check: 'a', state: 'Failed', message: 'No agent.' }] },
      false,
      'Degraded',
      'No agent.',
    ],
    [
      'unknown',
      { state: 'NotReady', readiness: [{ check: 'a', state: 'Unknown', message: 'Wait.' }] },
      false,
      'Progressing',
      'Wait.',
    ],
    [
      'paused by itself',
      {
        state: 'Paused',
        pause: { reason: 'OOMKilled', message: 'Too "big".\n', class: 'Runtime', since: '', streak: 3, firing: 'f' },
      },
      false,
      'Degraded',
      'Paused itself: Too "big".\n',
    ],
  ])('an Automation that is %s', async (_, status, paused, health, message) => {
    const automation = anAutomation({ spec: { paused }, status: { observedGeneration: 1, ...status } })
    expect(await healthOf(automation)).toEqual({ status: health, message })
  })

  it.each([
    [
      'that is applied',
      [
        ['Ready', 'True', 'Ready'],
        ['Applied', 'True', 'Applied'],
        ['InSync', 'True', 'InSync'],
      ],
      'Healthy',
    ],
    [
      'that waits for review',
      [
        ['Ready', 'True', 'NothingApplied'],
        ['Applied', 'False', 'AwaitingApproval'],
      ],
      'Healthy',
    ],
    [
      'that waits for review and is not ready',
      [
        ['Ready', 'False', 'NotReady'],
        ['Applied', 'False', 'AwaitingApproval'],
      ],
      'Degraded',
    ],
    [
      'that is being applied',
      [
        ['Ready', 'True', 'NothingApplied'],
        ['Applied', 'False', 'Applying'],
      ],
      'Progressing',
    ],
    [
      'that is blocked',
      [
        ['Ready', 'False', 'Blocked'],
        ['Applied', 'False', 'Blocked'],
      ],
      'Degraded',
    ],
    [
      'that does not compile, while what is applied runs',
      [
        ['Ready', 'False', 'Invalid'],
        ['Valid', 'False', 'Invalid'],
      ],
      'Degraded',
    ],
    [
      'that somebody changed',
      [
        ['Ready', 'True', 'Ready'],
        ['Applied', 'True', 'Applied'],
        ['InSync', 'False', 'Drifted'],
      ],
      'Degraded',
    ],
    ['that is looked at', [['Ready', 'Unknown', 'Checking']], 'Progressing'],
  ] as const)('a graph %s', async (_, conditions, health) => {
    const list = conditions.map(([type, status, reason]) => condition(type, status, reason))
    const status: AutomationGraphStatus = { observedGeneration: 1, conditions: list }
    expect((await healthOf(aGraph({ status }))).status).toBe(health)
    const newer = aGraph({ status, metadata: { generation: 2 } })
    expect((await healthOf(newer)).status).toBe('Progressing')
  })

  it.each([anAgent, anEnvironment])('what is ready, is not, or waits (%#)', async (build) => {
    const shown = async (...list: Condition[]) =>
      (await healthOf(build({ status: { observedGeneration: 1, conditions: list } }))).status
    expect(await shown(condition('Ready', 'True', 'Usable'))).toBe('Healthy')
    expect(await shown(condition('Ready', 'False', 'Invalid'))).toBe('Degraded')
    expect(await shown(condition('Ready', 'Unknown', 'Publishing'))).toBe('Progressing')
    expect(await shown(condition('Ready', 'False', 'Waits'), condition('Reconciling', 'True', 'Waits'))).toBe(
      'Progressing',
    )
    expect(words).toContain(await shown())
  })
})
