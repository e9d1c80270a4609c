import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, test } from 'vitest'
import type { AutomationFiring } from '../../src/api/automation-firing.ts'
import type { Pod } from '../../src/kube/core-types.ts'
import { haveClusterAlone } from '../kit/cluster-turn.ts'
import { clusterCommand, componentPid, kubectl, nodeCluster, requireNode, runTool } from '../kit/node-cluster.ts'
import { agentStep, graph, shellAgent, surroundings } from './manifests.ts'
import { OutsideManagers, operator } from './outside-managers.ts'
import { parseTables } from './tables.ts'
import { gated, Workspace } from './workspace.ts'

/**
 * What becomes of running commands when their node is drained, falls silent, or is gone. The cluster has one node, so
 * that the next pod waits until it is back.
 */

const deployments = ['deployment/graphwright-manager', 'deployment/graphwright-gateway']

haveClusterAlone()
beforeEach(requireNode)

describe('a drained node', () => {
  beforeEach(async () => {
    // Where there is another node, the operator moves there. Here it may come back to this one, as nothing else may.
    const toleration = { key: 'node.kubernetes.io/unschedulable', operator: 'Exists', effect: 'NoSchedule' }
    const patch = { spec: { template: { spec: { tolerations: [toleration] } } } }
    await operator('patch', ...deployments, '--patch', JSON.stringify(patch))
    await operatorIsBack()
  })
  afterEach(async () => {
    await kubectl(['uncordon', nodeCluster().name])
    await operator('rollout', 'undo', ...deployments)
    await operatorIsBack()
  })

  test('[A-508] [A-513] repeatable work waits for a node and says why; nobody knows of the other', async () => {
    const { workspace, safe, unsafe } = await twoRuns('drain')
    const flags = ['--ignore-daemonsets', '--delete-emptydir-data', '--force', '--timeout=140s']
    expect(await runTool('kubectl', ['drain', nodeCluster().name, ...flags])).toMatchObject({ code: 0 })

    const waiting = await workspace.firingIn(safe.firing, 'Waiting', 'Unschedulable', 90_000)
    expect(waiting.status?.message).toMatch(/^Step safe waits: No node takes the pod \(nodes were unschedulable\)/)
    const rows = parseTables(await workspace.kubectl('get', 'firing', safe.firing)).get('')
    expect(rows).toEqual([expect.objectContaining({ PHASE: 'Waiting', STEP: 'safe', REASON: 'Unschedulable' })])
    const { incarnation } = (await workspace.run('safe')).status ?? {}
    expect(incarnation).toMatchObject({ number: 1, replaces: { node: nodeCluster().name, reason: 'Disrupted' } })
    expect(incarnation?.replaces?.message).toMatch(/evicted from node \S+ on request, as kubectl drain/)

    const unknown = await workspace.firingIn(unsafe.firing, 'Waiting', 'OutcomeUnknown', 90_000)
    expect(unknown.status?.message).toMatch(/evicted from node \S+ on request.*look at what it did/)
    expect(await workspace.lint()).toEqual([])

    await kubectl(['uncordon', nodeCluster().name])
    await comesBack(workspace, safe, /^Disrupted$/)
    await staysUnknown(workspace, unsafe)
  })
})

/** A manager works elsewhere, as it does where there is a second node. */
describe('a lost node', () => {
  let managers: OutsideManagers | undefined

  beforeAll(async () => {
    if ('unavailable' in inject('nodeCluster')) return
    managers = await OutsideManagers.start()
  })
  afterEach(async () => {
    await clusterCommand('up')
  })
  afterAll(async () => {
    await managers?.stop()
    if (managers !== undefined) await operatorIsBack()
  })

  test('[A-508] [A-513] silent first, then deleted: repeatable work goes on elsewhere; nobody knows of the other', {
    timeout: 420_000,
  }, async () => {
    const workspace = await Workspace.create('silent')
    const manager = managers?.manage(workspace.namespace)
    try {
      const runs = await twoRuns('silent', workspace)
      await lose(runs)
      await clusterCommand('up')
      await comesBack(workspace, runs.safe, /^(Disrupted|PodLost)$/)
      await staysUnknown(workspace, runs.unsafe)
    } catch (cause) {
      throw new Error(`${cause instanceof Error ? cause.message : cause}\n${manager?.complaints}`, { cause })
    } finally {
      await manager?.stop()
    }
  })
})

interface RunningStep {
  readonly step: string
  readonly firing: string
  readonly pod: Pod
}

interface TwoRuns {
  readonly workspace: Workspace
  /** Its agent may be repeated. */
  readonly safe: RunningStep
  readonly unsafe: RunningStep
}

async function twoRuns(story: string, given?: Workspace): Promise<TwoRuns> {
  const workspace = given ?? (await Workspace.create(story))
  const script = gated('echo done > /graphwright/output/result')
  await workspace.apply(
    ...surroundings(),
    ...[shellAgent('safe', script, { repeatSafe: true }), shellAgent('unsafe', script)],
    ...['safe', 'unsafe'].map((step) => graph(step, [agentStep(step)])),
  )
  const [safe, unsafe] = await Promise.all(
    ['safe', 'unsafe'].map(async (step): Promise<RunningStep> => {
      await workspace.applied(step)
      const firing = await workspace.fire(step)
      return { step, firing, pod: await workspace.running(step) }
    }),
  )
  return { workspace, safe, unsafe } as TwoRuns
}

/**
 * The kubelet dies and its node falls silent, while the commands go on: so does a node that is cut off. Kubernetes calls
 * it unreachable after 50 s. It would then remove the pods, but not from the only node of a cluster. The Node is deleted,
 * as cloud controllers do with a machine that is gone, and its pods with it.
 */
async function lose({ workspace, safe, unsafe }: TwoRuns): Promise<void> {
  process.kill(componentPid('kubelet'), 'SIGKILL')
  const { name } = nodeCluster()
  await kubectl(['wait', `node/${name}`, '--for=condition=Ready=Unknown', '--timeout=90s'])
  // The pods may still work: nothing takes their place yet.
  expect((await workspace.pods()).map(({ metadata }) => metadata.uid).sort()).toEqual(
    [safe, unsafe].map(({ pod }) => pod.metadata.uid).sort(),
  )
  await kubectl(['delete', 'node', name])
  const waiting = await workspace.firingIn(safe.firing, 'Waiting', 'Unschedulable', 120_000)
  expect(waiting.status?.message).toMatch(/^Step safe waits: No node takes the pod \(there are no nodes\)/)
  const { incarnation } = (await workspace.run('safe')).status ?? {}
  expect(incarnation).toMatchObject({ number: 1, replaces: { node: name } })
  const unknown = await workspace.firingIn(unsafe.firing, 'Waiting', 'OutcomeUnknown', 120_000)
  expect(unknown.status?.message).toMatch(new RegExp(`node ${name}.*look at what it did`))
  expect(await workspace.lint()).toEqual([])
}

/** The same Run has another pod, which does the work. */
async function comesBack(workspace: Workspace, { step, firing, pod }: RunningStep, lost: RegExp): Promise<void> {
  const second = await workspace.runningAfter(step, pod)
  await workspace.release(second)
  const settled: AutomationFiring = await workspace.settled(firing)
  expect(settled.status).toMatchObject({ phase: 'Succeeded', output: { inline: 'done\n' } })
  const run = await workspace.run(step)
  expect(run.status).toMatchObject({
    incarnation: {
      number: 1,
      podUID: second.metadata.uid,
      replaces: { node: nodeCluster().name, reason: expect.stringMatching(lost) },
    },
    result: { incarnation: 1 },
  })
}

async function staysUnknown(workspace: Workspace, { step, firing }: RunningStep): Promise<void> {
  expect((await workspace.firing(firing)).status).toMatchObject({ phase: 'Waiting', reason: 'OutcomeUnknown' })
  const { metadata, status } = await workspace.run(step)
  expect(status).toMatchObject({ phase: 'Indeterminate', cause: 'Infrastructure', incarnation: { number: 0 } })
  const jobs = (await workspace.jobs()).filter((job) => job.metadata.labels?.['graphwright.dev/run'] === metadata.name)
  expect(jobs.length).toBeLessThanOrEqual(1)
  expect((await workspace.graphwright(['cancel', firing])).code).toBe(0)
  expect((await workspace.settled(firing)).status?.phase).toBe('Cancelled')
}

async function operatorIsBack(): Promise<void> {
  for (const deployment of deployments) await operator('rollout', 'status', deployment, '--timeout=120s')
}
