import { describe, expect, it } from 'vitest'
import { automation } from '../../../src/api/automation.ts'
import { eventually } from '../../kit/eventually.ts'
import { startOperator } from '../../kit/operator.ts'
import { startHeldChain } from './held-chain.ts'
import type { Workspace } from './workspace.ts'

async function setPaused({ client, namespace }: Workspace, paused: boolean): Promise<void> {
  const { apiVersion, kind } = automation
  await client.mergePatch({ apiVersion, kind, name: 'triage', namespace }, { spec: { paused } })
}

describe('a firing whose Automation is paused by hand while it is under way', () => {
  it('[A-168] [A-170] [A-172] [A-173] [A-303] has its step end, holds the next, and goes on as the same firing', async () => {
    const { workspace, release } = await startHeldChain()
    await setPaused(workspace, true)
    await eventually(async () => (await workspace.automation()).status?.state === 'Paused')
    expect((await workspace.runIn('Running', 'triage')).metadata.deletionTimestamp).toBeUndefined()
    release()
    const held = await workspace.inPhase('Waiting', 'AutomationPaused')
    expect(held.status).toMatchObject({ step: 'log', steps: { triage: { kind: 'completed' } } })
    // Firing once more is no way around it, and leaves it as it is.
    await workspace.fire({}, 'triage-manual-2')
    expect((await workspace.settled('triage-manual-2')).status).toMatchObject({ phase: 'Skipped', reason: 'Paused' })
    const before = await workspace.sessions()
    expect(before.map(({ spec, status }) => [spec.step, status?.phase])).toEqual([['triage', 'Succeeded']])
    expect((await workspace.firing()).metadata.resourceVersion).toBe(held.metadata.resourceVersion)

    await setPaused(workspace, false)
    const ended = await workspace.settled()
    expect(ended.status).toMatchObject({ phase: 'Succeeded', admission: held.status?.admission })
    expect(ended.metadata.uid).toBe(held.metadata.uid)
    expect(ended.status?.steps?.triage).toEqual(held.status?.steps?.triage)
    const sessions = await workspace.sessions()
    expect(sessions.map(({ spec }) => spec.step).sort()).toEqual(['log', 'triage'])
    expect(sessions.map(({ metadata }) => metadata.uid)).toContain(before[0]?.metadata.uid)
  })

  it('[A-175] is ended by cancelling, not by the pause', async () => {
    const { workspace, release } = await startHeldChain()
    await setPaused(workspace, true)
    release()
    await workspace.inPhase('Waiting', 'AutomationPaused')
    await workspace.cancel('not wanted any more')
    const ended = await workspace.settled()
    expect(ended.status).toMatchObject({ phase: 'Cancelled', steps: { triage: { kind: 'completed' } } })
    expect(await workspace.sessions()).toHaveLength(1)
  })
})

it('[A-298] [A-299] [A-302] a step that ends while no manager runs is seen by the next, which starts what follows once', async () => {
  const { workspace, operator, release } = await startHeldChain()
  await operator.stop()
  release()
  await eventually(async () => (await workspace.runs()).some(({ status }) => status?.result !== undefined))
  expect((await workspace.sessions()).map(({ spec }) => spec.step)).toEqual(['triage'])
  const before = await workspace.firing()
  await startOperator(workspace.client, workspace.namespace)
  const ended = await workspace.settled()
  expect(ended.status).toMatchObject({ phase: 'Succeeded', admission: before.status?.admission })
  expect((await workspace.sessions()).map(({ spec }) => spec.step).sort()).toEqual(['log', 'triage'])
})
