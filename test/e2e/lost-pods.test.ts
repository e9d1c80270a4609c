import { beforeEach, describe, expect, test } from 'vitest'
import type { EnvironmentSpec } from '../../src/api/environment.ts'
import type { Pod } from '../../src/kube/core-types.ts'
import { shareCluster } from '../kit/cluster-turn.ts'
import { eventually } from '../kit/eventually.ts'
import { kubectl, nodeCluster, requireNode } from '../kit/node-cluster.ts'
import { agentStep, graph, type Node, shellAgent, surroundings } from './manifests.ts'
import { parseTables } from './tables.ts'
import { gated, Workspace } from './workspace.ts'

const result = '/graphwright/output/result'

shareCluster()
beforeEach(requireNode)

describe.concurrent('a pod that is evicted', () => {
  test('[A-508] after its command had started is not run again: who is on call reads where it was, and who took it', async () => {
    const workspace = await prepared(
      [shellAgent('work', gated('true')), shellAgent('after', 'true')],
      [agentStep('work'), agentStep('after')],
    )
    const firing = await workspace.fire('flow')
    const pod = await workspace.running('work')
    await evict(workspace, pod)
    const { status } = await workspace.firingIn(firing, 'Waiting', 'OutcomeUnknown')
    expect(status?.message).toMatch(evictedFrom())
    expect(status?.message).toMatch(/look at what it did.*repeatSafe/)
    expect(status?.steps?.work).toMatchObject({ kind: 'running', reason: 'outcome_unknown' })
    const run = await workspace.run('work')
    expect(run.status).toMatchObject({ phase: 'Indeterminate', reason: 'Disrupted', cause: 'Infrastructure' })
    const [row] = parseTables(await workspace.kubectl('get', 'run')).get('') ?? []
    expect(row).toMatchObject({ PHASE: 'Indeterminate', REASON: 'Disrupted' })
    expect([(await workspace.jobs()).length, (await workspace.sessions()).length]).toEqual([1, 1])
    expect(await workspace.lint()).toEqual([])

    // Whoever has looked at what it did ends the wait, and still nothing takes its place.
    expect((await workspace.graphwright(['cancel', firing, '--reason', 'looked'])).code).toBe(0)
    const ended = await workspace.settled(firing)
    expect(ended.status).toMatchObject({ phase: 'Cancelled', steps: { work: { reason: 'outcome_unknown' } } })
    expect((await workspace.sessions()).map(({ spec }) => spec.step)).toEqual(['work'])
  })

  test('[A-513] gets a successor in the same Run where the agent is repeat-safe, which says what it replaces', async () => {
    const workspace = await prepared(
      [shellAgent('work', gated(`echo done > ${result}`), { repeatSafe: true })],
      [agentStep('work')],
    )
    const firing = await workspace.fire('flow')
    const first = await workspace.running('work')
    const { uid } = (await workspace.run('work')).metadata
    await evict(workspace, first)
    await workspace.release(await workspace.runningAfter('work', first))
    expect((await workspace.settled(firing)).status).toMatchObject({ phase: 'Succeeded', output: { inline: 'done\n' } })
    const run = await workspace.run('work')
    expect([run.metadata.uid, run.status?.result?.incarnation]).toEqual([uid, 1])
    const { number, replaces } = run.status?.incarnation ?? {}
    expect([number, replaces?.node, replaces?.reason]).toEqual([1, nodeCluster().name, 'Disrupted'])
    expect(replaces?.message).toMatch(evictedFrom())
    const { stdout } = await workspace.graphwright(['trace', firing])
    expect(stdout).toMatch(/Pod 2 of work; the one before: The pod was evicted/)
    expect(await workspace.kubectl('describe', 'run', run.metadata.name)).toMatch(
      /Warning +Disrupted .*evicted from node/,
    )
    expect(await workspace.sessions()).toHaveLength(1)
    expect(await workspace.lint()).toEqual([])
  })

  test('[A-513] before its command had started gets a successor, whatever the agent says', async () => {
    const label = `graphwright.dev/place-${Math.random().toString(36).slice(2, 8)}`
    const workspace = await prepared([shellAgent('work', `echo done > ${result}`)], [agentStep('work')], {
      nodeSelector: { [label]: 'here' },
    })
    const firing = await workspace.fire('flow')
    const { status } = await workspace.firingIn(firing, 'Waiting', 'Unschedulable')
    expect(status?.message).toMatch(/^Step work waits: No node takes the pod \(nodes didn't match .*selector\)/)
    const [pod] = await workspace.pods()
    await evict(workspace, pod as Pod)
    await eventually(async () => expect((await workspace.run('work')).status?.incarnation?.number).toBe(1), {
      timeout: 30_000,
      interval: 200,
    })
    await kubectl(['label', 'node', nodeCluster().name, `${label}=here`])
    expect((await workspace.settled(firing)).status).toMatchObject({ phase: 'Succeeded', output: { inline: 'done\n' } })
    expect((await workspace.run('work')).status).toMatchObject({ incarnation: { number: 1 } })
    expect(await workspace.lint()).toEqual([])
  })
})

describe.concurrent('a pod that is deleted after its command had started', () => {
  test('[A-508] is not run again where that might do something twice: nobody knows, and nothing goes on', async () => {
    const workspace = await prepared(
      [shellAgent('work', gated('true')), shellAgent('after', 'true')],
      [agentStep('work'), agentStep('after')],
    )
    const firing = await workspace.fire('flow')
    const pod = await workspace.running('work')
    await workspace.kubectl('delete', 'pod', pod.metadata.name, '--wait=false')
    const { status } = await workspace.firingIn(firing, 'Waiting', 'OutcomeUnknown')
    expect(status?.message).toMatch(/^Step work waits: The pod was deleted from node .*look at what it did.*repeatSafe/)
    expect(status?.steps?.work).toMatchObject({ kind: 'running', reason: 'outcome_unknown' })
    expect(status?.result).toBeUndefined()
    expect((await workspace.run('work')).status).toMatchObject({ phase: 'Indeterminate', reason: 'PodDeleted' })
    await workspace.kubectl('wait', 'pod', pod.metadata.name, '--for=delete', '--timeout=60s')
    expect(await workspace.jobs()).toHaveLength(1)
    expect(await workspace.sessions()).toHaveLength(1)
    expect(await workspace.lint()).toEqual([])
  })

  test('[A-513] gets a successor in the same Run where the agent is repeat-safe', async () => {
    const workspace = await prepared(
      [shellAgent('work', gated(`echo done > ${result}`), { repeatSafe: true })],
      [agentStep('work')],
    )
    const firing = await workspace.fire('flow')
    const first = await workspace.running('work')
    const { metadata } = await workspace.run('work')
    await workspace.kubectl('delete', 'pod', first.metadata.name, '--wait=false')
    const second = await workspace.runningAfter('work', first)
    await workspace.release(second)
    expect((await workspace.settled(firing)).status).toMatchObject({ phase: 'Succeeded', output: { inline: 'done\n' } })
    const run = await workspace.run('work')
    expect(run.metadata.uid).toBe(metadata.uid)
    expect(run.status).toMatchObject({
      incarnation: { number: 1, podUID: second.metadata.uid },
      result: { incarnation: 1 },
    })
    expect(await workspace.sessions()).toHaveLength(1)
    expect(await workspace.lint()).toEqual([])
  })
})

async function prepared(
  agents: readonly object[],
  nodes: readonly Node[],
  environment: Partial<EnvironmentSpec> = {},
): Promise<Workspace> {
  const workspace = await Workspace.create('lost')
  await workspace.apply(...surroundings(environment), ...agents, graph('flow', nodes))
  await workspace.applied('flow')
  return workspace
}

/** As kubectl drain and autoscalers do it. */
async function evict(workspace: Workspace, { metadata: { name } }: Pod): Promise<void> {
  const { namespace } = workspace
  const input = JSON.stringify({ apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name, namespace } })
  const path = `/api/v1/namespaces/${namespace}/pods/${name}/eviction`
  const { code, stderr } = await workspace.tryKubectl(['create', '--raw', path, '-f', '-'], { input })
  expect(code, stderr).toBe(0)
}

function evictedFrom(): RegExp {
  return new RegExp(
    `The pod was evicted from node ${nodeCluster().name} on request, as kubectl drain and autoscalers do`,
  )
}
