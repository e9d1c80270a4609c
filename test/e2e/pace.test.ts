import { afterEach, beforeEach, expect, test } from 'vitest'
import { labels } from '../../src/api/labels.ts'
import { haveClusterAlone } from '../kit/cluster-turn.ts'
import { eventually } from '../kit/eventually.ts'
import { componentPid, requireNode } from '../kit/node-cluster.ts'
import { agentStep, graph, shellAgent, surroundings } from './manifests.ts'
import { gated, Workspace } from './workspace.ts'

let stopped: number | undefined

haveClusterAlone()
beforeEach(requireNode)
afterEach(resumeControllers)

test('the next step starts when a result is recorded, and not when Kubernetes has tidied up behind it', async () => {
  const workspace = await Workspace.create('pace')
  const agents = [shellAgent('work', gated('echo done > /graphwright/output/result')), shellAgent('after', 'true')]
  await workspace.apply(...surroundings(), ...agents, graph('flow', [agentStep('work'), agentStep('after')]))
  await workspace.applied('flow')
  const firing = await workspace.fire('flow')
  const pod = await workspace.running('work')
  const jobOf = async (step: string) => {
    return (await workspace.jobs()).find(({ metadata }) => metadata.labels?.[labels.step] === step)
  }
  // From here on no Job completes, and no pod of one is let go.
  stopControllers()
  await workspace.release(pod)
  await eventually(async () => (await jobOf('after')) !== undefined, { timeout: 30_000, interval: 100 })
  expect((await workspace.run('work')).status?.phase).toBe('Succeeded')
  const before = await jobOf('work')
  expect(before?.status).toMatchObject({ active: 1 })
  expect(before?.status?.conditions ?? []).toEqual([])
  resumeControllers()
  expect((await workspace.settled(firing)).status).toMatchObject({ phase: 'Succeeded' })
})

/** Stops the controller manager in the middle of what it does. */
function stopControllers(): void {
  stopped = componentPid('kube-controller-manager')
  process.kill(stopped, 'SIGSTOP')
}

function resumeControllers(): void {
  if (stopped !== undefined) process.kill(stopped, 'SIGCONT')
  stopped = undefined
}
