import { describe, expect, it } from 'vitest'
import { type AutomationSpec, automationStatus } from '../../../../src/api/automation.ts'
import type { KubeObject } from '../../../../src/lib/object.ts'
import { readinessOf } from '../../../../src/reconcilers/automation/readiness.ts'
import { anAgent, anAgentVersion, anAutomation, anEnvironment, aProgram, createdAt } from '../../../kit/builders.ts'
import { reconcileContext } from '../../../kit/reconcile-context.ts'

const version = anAgentVersion()
const latestVersion = { name: 'triager-v1', number: 1, digest: version.spec.digest, uid: 'uid-of-triager-v1' }
const conditions = (status: 'True' | 'False') => [
  { type: 'Ready', status, reason: 'Because', message: 'It is so.', lastTransitionTime: createdAt },
]
const agent = anAgent({ status: { latestVersion } })
const environment = anEnvironment({ status: { conditions: conditions('True') } })
const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'triage', namespace: 'default' } }
const program = aProgram()
const world: readonly KubeObject[] = [agent, version, environment, account, program]
const going = { deletionTimestamp: createdAt }
const programTarget = { target: { program: { name: 'triage-program', digest: program.spec.digest } } }

function check(cached: readonly KubeObject[], spec: Partial<AutomationSpec> = {}, graphManaged = true) {
  const subject = { namespace: 'default', graphManaged, spec: anAutomation({ spec }).spec }
  return readinessOf(subject, reconcileContext({ cached }).read)
}

/** The world with this object in place of the one of its kind and name. */
const having = (...changed: readonly KubeObject[]) => [
  ...changed,
  ...world.filter(
    ({ kind, metadata }) => !changed.some((one) => one.kind === kind && one.metadata.name === metadata.name),
  ),
]
const without = (...kinds: string[]) => world.filter(({ kind }) => !kinds.includes(kind))

describe('readiness', () => {
  it('has no entry where every check passes', () => {
    expect(check(world)).toEqual([])
    expect(check(world, programTarget)).toEqual([])
  })

  it.each([
    ['[A-159] an Environment that is not there', without('Environment'), 'environment'],
    [
      '[A-159] an Environment that is going',
      having({ ...environment, metadata: { ...environment.metadata, ...going } }),
      'environment',
    ],
    [
      '[A-159] an Environment that is not ready',
      having(anEnvironment({ status: { conditions: conditions('False') } })),
      'environment',
    ],
    ['[N-167] a ServiceAccount that is not there', without('ServiceAccount'), 'serviceAccount'],
    [
      '[N-167] a ServiceAccount that is going',
      having({ ...account, metadata: { ...account.metadata, ...going } }),
      'serviceAccount',
    ],
    ['[A-153] an Agent that is not there', without('Agent'), 'agent'],
    ['[A-153] an Agent that is going', having(anAgent({ status: { latestVersion }, metadata: going })), 'agent'],
    [
      '[A-153] an Agent that cannot be published',
      having(anAgent({ status: { conditions: conditions('False') } })),
      'agent',
    ],
    [
      'containers without an image',
      having(anEnvironment({ spec: { image: undefined } as never, status: { conditions: conditions('True') } })),
      'image',
    ],
  ])('%s fails its check', (_, cached, expected) => {
    expect(check(cached)).toEqual([{ check: expected, state: 'Failed', message: expect.stringMatching(/\.$/) }])
  })

  it.each([
    ['[A-151] [A-159] an Environment that nobody has looked at', having(anEnvironment()), 'environment'],
    ['[A-151] [A-153] an Agent that is about to be published', having(anAgent()), 'agent'],
  ])('%s is unknown, and blocks', (_, cached, expected) => {
    expect(check(cached)).toEqual([{ check: expected, state: 'Unknown', message: expect.stringMatching(/\.$/) }])
  })

  it('[A-153] a version that is named belongs to the Agent', () => {
    const named = (name: string, its: string) => check(world, { target: { agent: { name, version: its } } })
    expect(named('triager', 'triager-v1')).toEqual([])
    expect(named('other', 'triager-v1')).toMatchObject([{ check: 'agent', state: 'Failed' }])
    expect(named('triager', 'triager-v2')).toMatchObject([{ check: 'agent', state: 'Failed' }])
  })

  it.each([
    ['a program that is gone', without('AutomationProgram'), true],
    ['another program of that name', having(aProgram({ spec: { digest: `sha256:${'0'.repeat(64)}` } })), true],
    [
      'a program of a newer operator',
      having(aProgram({ spec: { formatVersion: 99, digest: program.spec.digest } })),
      true,
    ],
    ['a program that has lost something', having(aProgram({ spec: { pins: [], digest: program.spec.digest } })), true],
    ['a program without a graph', world, false],
  ])('[A-152] %s fails the check of the target', (_, cached, graphManaged) => {
    expect(check(cached, programTarget, graphManaged)).toMatchObject([{ check: 'target', state: 'Failed' }])
  })

  it('[A-153] a pinned version that is gone fails the check of its Agent', () => {
    expect(check(without('AgentVersion'), programTarget)).toMatchObject([{ check: 'agent', state: 'Failed' }])
    const again = having(anAgentVersion({ metadata: { uid: 'uid-of-another' } }))
    expect(check(again, programTarget)).toMatchObject([{ check: 'agent', state: 'Failed' }])
  })

  it('has one entry for each check that fails', () => {
    const entries = check([], { triggers: [{ id: 'tick', kind: 'schedule', cron: 'never', timezone: 'UTC' }] })
    expect(entries.map((entry) => entry.check)).toEqual(['triggers', 'environment', 'serviceAccount', 'agent'])
  })

  it('fits into the status, however many pins are gone', () => {
    const pins = Array.from({ length: 100 }, (_, n) => ({
      agent: `agent-${n}`,
      version: `agent-${n}-v1`,
      digest: `sha256:${'0'.repeat(64)}`,
      uid: `uid-${n}`,
    }))
    const many = aProgram({ spec: { pins } })
    const target = { program: { name: 'triage-program', digest: many.spec.digest } }
    const entries = check(having(many), { target })
    expect(entries.length).toBeGreaterThan(10)
    expect(automationStatus.safeParse({ readiness: entries }).error).toBeUndefined()
  })
})
