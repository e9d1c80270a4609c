import { beforeEach, describe, expect, test } from 'vitest'
import { shareCluster } from '../kit/cluster-turn.ts'
import { eventually } from '../kit/eventually.ts'
import { requireNode } from '../kit/node-cluster.ts'
import { agentStep, graph, shellAgent, surroundings } from './manifests.ts'
import { gated, Workspace } from './workspace.ts'

shareCluster()
beforeEach(requireNode)

describe.concurrent('deleting', () => {
  test('a running firing takes its Session, Run, Job and pod with it', async () => {
    const workspace = await prepared(gated('true'))
    const firing = await workspace.fire('flow')
    await workspace.running('work')
    await workspace.kubectl('delete', 'firing', firing, '--timeout=60s')
    await eventually(
      async () => {
        const lists = [workspace.sessions(), workspace.runs(), workspace.jobs(), workspace.pods()]
        expect(await Promise.all<unknown[]>(lists)).toEqual([[], [], [], []])
      },
      { timeout: 60_000, interval: 500 },
    )
    // The Automation goes on as if nothing had been.
    const again = await workspace.fire('flow')
    await workspace.release(await workspace.running('work'))
    expect((await workspace.settled(again)).status?.phase).toBe('Succeeded')
  })

  test('a graph takes everything with it that it owns, and leaves what people made beside it', async () => {
    const workspace = await prepared('true')
    await workspace.settled(await workspace.fire('flow'))
    await workspace.kubectl('delete', 'agraph', 'flow', '--timeout=60s')
    await eventually(
      async () => {
        const left = (await workspace.objects()).map(({ kind }) => kind)
        expect(left.sort()).toEqual(['Agent', 'AgentVersion', 'Environment'])
        expect([await workspace.jobs(), await workspace.pods()]).toEqual([[], []])
      },
      { timeout: 90_000, interval: 500 },
    )
  })
})

async function prepared(script: string): Promise<Workspace> {
  const workspace = await Workspace.create('deleting')
  await workspace.apply(...surroundings(), shellAgent('work', script), graph('flow', [agentStep('work')]))
  await workspace.applied('flow')
  return workspace
}
