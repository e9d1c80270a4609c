import { describe, expect, it } from 'vitest'
import type { AutomationFiring } from '../../../src/api/automation-firing.ts'
import { labels } from '../../../src/api/labels.ts'
import { isAlreadyExists } from '../../../src/kube/error.ts'
import { firingName, manualKey } from '../../../src/lib/names.ts'
import { eventually } from '../../kit/eventually.ts'
import { startOperator } from '../../kit/operator.ts'
import { chainGraph, heldCommand, triageGraph, Workspace } from './workspace.ts'

const outcomes = ({ status }: AutomationFiring) =>
  Object.fromEntries(
    Object.entries(status?.steps ?? {}).map(([id, { kind, arm, reason }]) => [
      id,
      [kind, arm, reason].filter((word) => word !== undefined).join(' '),
    ]),
  )

describe('a firing by hand', () => {
  it('[A-279] [A-280] of one agent: firing, Session, Run and Job, each owned by the one before', async () => {
    const workspace = await Workspace.create({ agent: 'all good' })
    await startOperator(workspace.client, workspace.namespace)
    await workspace.automate()
    await workspace.fire({ event: { title: 'Disk full' } })
    const firing = await workspace.settled()
    expect(firing.status).toMatchObject({ phase: 'Succeeded', result: 'completed', output: { inline: 'all good' } })
    expect(firing.status?.duration).toMatch(/^\d+s$/)
    const [session, run, job] = [await workspace.sessions(), await workspace.runs(), await workspace.jobs()].flat()
    const owners = [firing, session, run, job].map((object) => object?.metadata.ownerReferences?.[0]?.uid)
    const { uid } = (await workspace.automation()).metadata
    expect(owners).toEqual([uid, firing.metadata.uid, session?.metadata.uid, run?.metadata.uid])
    for (const object of [session, run, job]) {
      expect(object?.metadata.labels).toMatchObject({
        [labels.automation]: 'triage',
        [labels.firing]: 'triage-manual-1',
        [labels.step]: 'agent',
      })
    }
    await eventually(async () => {
      const { status } = await workspace.automation()
      expect(status).toMatchObject({ active: [], last: { firing: 'triage-manual-1', result: 'Succeeded' } })
    })
  })

  it.each([
    [true, { urgent: 'completed continue', escalate: 'completed', log: 'skipped' }],
    [false, { urgent: 'completed otherwise', escalate: 'skipped', log: 'completed' }],
  ])('[A-340] runs the arm that the decision takes: %s', async (escalate, taken) => {
    const workspace = await Workspace.create({ triage: JSON.stringify({ escalate }), escalate: 'paged', log: 'logged' })
    await startOperator(workspace.client, workspace.namespace)
    await workspace.applyGraph(triageGraph)
    await workspace.fire({ event: { title: 'Disk full' } })
    const firing = await workspace.settled()
    expect(outcomes(firing)).toEqual({ triage: 'completed', verdict: 'completed', ...taken })
    expect(firing.status?.output?.inline).toBe(escalate ? 'paged' : 'logged')
    const sessions = await workspace.sessions()
    expect(sessions.map(({ spec }) => spec.step).sort()).toEqual([escalate ? 'escalate' : 'log', 'triage'])
    const prompts = Object.fromEntries(sessions.map(({ spec }) => [spec.step, spec.input.prompt.inline]))
    expect(prompts).toMatchObject({ triage: 'Triage Disk full' })
    // Everything between the two pods is one write: these steps settled at one instant.
    const { triage, verdict, urgent } = firing.status?.steps ?? {}
    expect(new Set([triage?.settledAt, verdict?.settledAt, urgent?.settledAt]).size).toBe(1)
  })

  it('[A-380] an answer that is no JSON fails before anything downstream runs', async () => {
    const workspace = await Workspace.create({ triage: 'Sorry, I cannot help with that.' })
    await startOperator(workspace.client, workspace.namespace)
    await workspace.applyGraph(triageGraph)
    await workspace.fire({ event: {} })
    const firing = await workspace.settled()
    expect(firing.status).toMatchObject({
      phase: 'Failed',
      reason: 'OutputInvalidJson',
      message: 'Step verdict failed: not valid JSON',
      step: 'verdict',
      result: 'failed',
    })
    expect(outcomes(firing)).toEqual({ triage: 'completed', verdict: 'failed output_invalid_json' })
    expect(await workspace.sessions()).toHaveLength(1)
  })

  it('shows why a pod failed', async () => {
    const workspace = await Workspace.create({ agent: { command: () => ({ exitCode: 137, reason: 'OOMKilled' }) } })
    await startOperator(workspace.client, workspace.namespace)
    await workspace.automate()
    await workspace.fire()
    const firing = await workspace.settled()
    expect(firing.status).toMatchObject({ phase: 'Failed', reason: 'OOMKilled', step: 'agent' })
    expect(firing.status?.message).toMatch(/^Step agent failed: /)
    expect(outcomes(firing)).toEqual({ agent: 'failed oom_killed' })
  })

  it('[A-308] the same user and key name the same firing', async () => {
    const workspace = await Workspace.create()
    await startOperator(workspace.client, workspace.namespace)
    const { metadata } = await workspace.automate()
    const identity = { name: 'triage', uid: metadata.uid ?? '' }
    const name = firingName(identity, 'manual', manualKey('jane', 'monday'))
    const spec = { idempotencyKey: 'monday', requestedBy: 'jane' }
    await workspace.fire(spec, name)
    await expect(workspace.fire(spec, name)).rejects.toSatisfy(isAlreadyExists)
    await workspace.fire(spec, 'triage-manual-other')
    expect((await workspace.settled(name)).status?.phase).toBe('Succeeded')
    expect((await workspace.settled('triage-manual-other')).status).toMatchObject({
      phase: 'Failed',
      reason: 'NameMismatch',
      message: expect.stringContaining(name),
    })
    expect(await workspace.sessions()).toHaveLength(1)
  })

  it('[A-174] of a paused Automation is skipped, and one of a missing Automation fails', async () => {
    const workspace = await Workspace.create()
    await startOperator(workspace.client, workspace.namespace)
    await workspace.createAutomation({ paused: true })
    await workspace.fire()
    expect((await workspace.settled()).status).toMatchObject({ phase: 'Skipped', reason: 'Paused' })
    await workspace.fire({ automation: { name: 'nothing' } }, 'nothing-manual-1')
    expect((await workspace.settled('nothing-manual-1')).status).toMatchObject({
      phase: 'Failed',
      reason: 'AutomationNotFound',
    })
    expect(await workspace.sessions()).toEqual([])
  })

  it('[A-163] an Environment that is deleted between two steps refuses the second', async () => {
    const { line, release } = heldCommand()
    const workspace = await Workspace.create({ triage: line })
    await startOperator(workspace.client, workspace.namespace)
    await workspace.applyGraph(chainGraph)
    await workspace.fire()
    await eventually(async () => (await workspace.sessions()).some(({ status }) => status?.phase === 'Running'))
    await workspace.delete('Environment', 'default')
    release()
    const firing = await workspace.settled()
    expect(firing.status).toMatchObject({ phase: 'Failed', reason: 'EnvironmentMissing', step: 'log' })
    expect(outcomes(firing)).toEqual({ triage: 'completed', log: 'failed environment_missing' })
    expect(await workspace.sessions()).toHaveLength(1)
  })

  it('[A-164] [A-304] [A-316] [A-317] keeps what it was admitted with when Environment and Agent are edited', async () => {
    const { line, release } = heldCommand()
    const workspace = await Workspace.create({ triage: line })
    await startOperator(workspace.client, workspace.namespace)
    await workspace.applyGraph(chainGraph)
    await workspace.fire()
    await eventually(async () => (await workspace.sessions()).length === 1)
    await workspace.editEnvironment({ image: 'edited:2' })
    release()
    await workspace.settled()
    const images = (await workspace.sessions()).map(({ spec }) => spec.environment.spec.image)
    expect(images).toEqual(['registry.example/agent:1', 'registry.example/agent:1'])
  })

  it('its children go with it', async () => {
    const workspace = await Workspace.create()
    await startOperator(workspace.client, workspace.namespace)
    await workspace.automate()
    await workspace.fire()
    await workspace.settled()
    await workspace.delete('AutomationFiring', 'triage-manual-1')
    await eventually(
      async () => {
        const left = [await workspace.sessions(), await workspace.runs(), await workspace.jobs()]
        expect(left.flat()).toEqual([])
      },
      { timeout: 20_000 },
    )
  })
})
