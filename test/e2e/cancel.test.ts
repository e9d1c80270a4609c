import { beforeEach, describe, expect, test } from 'vitest'
import type { AutomationFiring } from '../../src/api/automation-firing.ts'
import { podGraceSeconds } from '../../src/api/run-api.ts'
import { digestBytes } from '../../src/lib/digest.ts'
import { shareCluster } from '../kit/cluster-turn.ts'
import { eventually } from '../kit/eventually.ts'
import { requireNode } from '../kit/node-cluster.ts'
import { agentStep, graph, shellAgent, surroundings } from './manifests.ts'
import { parseTables } from './tables.ts'
import { Workspace } from './workspace.ts'

shareCluster()
beforeEach(requireNode)

const waits = 'while :; do sleep 0.1; done'

describe.concurrent('a firing that is cancelled while a command runs', () => {
  test('tells it by SIGTERM, keeps what it wrote, and runs nothing more', async () => {
    const workspace = await prepared(`trap 'echo told to end; exit 7' TERM; echo begun; ${waits}`)
    const firing = await workspace.fire('flow')
    await workspace.running('work')
    await says(workspace, 'begun\n')
    const { code, stdout } = await workspace.graphwright(['cancel', firing, '--reason', 'wrong event'])
    expect([code, stdout]).toEqual([0, expect.stringContaining('is being cancelled (admin: wrong event)')])

    const settled = await workspace.settled(firing, 60_000)
    await isCancelled(workspace, settled, { exitCode: 7, log: 'begun\ntold to end\n' })
    // It was not waited for until its time was up.
    const { cancelledAt = '', settledAt = '' } = (await workspace.run('work')).status ?? {}
    expect(Date.parse(settledAt) - Date.parse(cancelledAt)).toBeLessThan(30_000)
    const again = await workspace.graphwright(['cancel', firing])
    expect(again).toMatchObject({ code: 1, stderr: expect.stringMatching(/^error: validation\.conflict: .*has ended/) })
  })

  test('kills one that does not listen when its grace period is over, within two minutes', {
    timeout: 240_000,
  }, async () => {
    const workspace = await prepared(`trap 'echo not now' TERM; echo begun; ${waits}`)
    const firing = await workspace.fire('flow')
    await workspace.running('work')
    await says(workspace, 'begun\n')
    expect((await workspace.graphwright(['cancel', firing])).code).toBe(0)
    await says(workspace, 'begun\nnot now\n')
    const { status } = await workspace.firing(firing)
    expect([status?.phase, status?.reason]).toEqual(['Running', 'Cancelling'])
    expect(status?.message).toMatch(/work/)
    expect(await workspace.lint()).toEqual([])

    const settled = await workspace.settled(firing, 150_000)
    await isCancelled(workspace, settled, { exitCode: 137, log: 'begun\nnot now\n' })
    const { cancelledAt = '', settledAt = '' } = (await workspace.run('work')).status ?? {}
    const seconds = (Date.parse(settledAt) - Date.parse(cancelledAt)) / 1000
    expect(seconds).toBeGreaterThanOrEqual(podGraceSeconds - 2)
    expect(seconds).toBeLessThan(120)
  })
})

async function prepared(script: string): Promise<Workspace> {
  const workspace = await Workspace.create('cancel')
  const agents = [shellAgent('work', script), shellAgent('after', 'echo after')]
  await workspace.apply(...surroundings(), ...agents, graph('flow', [agentStep('work'), agentStep('after')]))
  await workspace.applied('flow')
  return workspace
}

/** Waits until the command has printed this. */
async function says(workspace: Workspace, text: string): Promise<void> {
  const [pod] = await workspace.pods()
  await eventually(
    async () => expect(await workspace.kubectl('logs', pod?.metadata.name ?? '', '-c', 'agent')).toBe(text),
    { timeout: 30_000, interval: 300 },
  )
}

async function isCancelled(
  workspace: Workspace,
  { metadata, status }: AutomationFiring,
  { exitCode, log }: { readonly exitCode: number; readonly log: string },
): Promise<void> {
  expect(status).toMatchObject({ phase: 'Cancelled', reason: 'Cancelled', result: 'cancelled' })
  expect(status?.steps?.work).toMatchObject({ reason: 'cancelled' })
  expect(status?.steps?.after).toBeUndefined()
  const { status: run } = await workspace.run('work')
  expect(run).toMatchObject({ phase: 'Cancelled', cause: 'Cancelled', reason: 'Cancelled', exitCode })
  const rows = parseTables(await workspace.kubectl('get', 'firing', metadata.name)).get('')
  expect(rows).toEqual([expect.objectContaining({ PHASE: 'Cancelled', REASON: 'Cancelled' })])

  // What it wrote after it was told to end may be gone with its pod.
  const written = ['begun\n', log].map((text) => ({ digest: digestBytes(text), size: Buffer.byteLength(text) }))
  expect(written).toContainEqual(run?.logs)
  await eventually(async () => expect([await workspace.jobs(), await workspace.pods()]).toEqual([[], []]), {
    timeout: 30_000,
    interval: 500,
  })
  expect((await workspace.sessions()).map(({ spec }) => spec.step)).toEqual(['work'])
  expect(await workspace.lint()).toEqual([])
}
