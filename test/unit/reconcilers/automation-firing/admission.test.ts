import { describe, expect, it } from 'vitest'
import type { AutomationProgramSpec } from '../../../../src/api/automation-program.ts'
import { labels, settleFinalizer } from '../../../../src/api/labels.ts'
import { digestJson } from '../../../../src/lib/digest.ts'
import { ownedBy } from '../../../../src/lib/owner-references.ts'
import { aFiring, anAutomation, anEnvironment, aProgram } from '../../../kit/builders.ts'
import { active, admitted, automation, claimed, digest, environment, reconcile, without, world } from './pass.ts'

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
