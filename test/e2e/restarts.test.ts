import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { digestBytes } from '../../src/lib/digest.ts'
import { haveClusterAlone } from '../kit/cluster-turn.ts'
import { requireNode } from '../kit/node-cluster.ts'
import { agentStep, type Edge, graph, type Node, shellAgent, surroundings } from './manifests.ts'
import { operator } from './outside-managers.ts'
import { gated, Workspace } from './workspace.ts'

const result = '/graphwright/output/result'

haveClusterAlone()
beforeEach(requireNode)

describe('a run outlives the gateway', () => {
  afterEach(async () => {
    await operator('scale', 'deployment/graphwright-gateway', '--replicas=1')
    await operator('rollout', 'status', 'deployment/graphwright-gateway', '--timeout=120s')
  })

  test('killed while it runs, and gone while it reports: the same result, and nothing is lost', async () => {
    const large = 'a line of a large output\n'.repeat(1000)
    const workspace = await prepared(
      [
        shellAgent('work', gated(`yes '${large.split('\n')[0]}' | head -n 1000 > ${result}`)),
        shellAgent('after', `sha256sum < /graphwright/input/prompt.txt | cut -d ' ' -f 1 > ${result}`),
      ],
      [agentStep('work'), { id: 'after', kind: 'step_agent', agent: 'after' }],
      [{ kind: 'output', from: 'work', to: 'after' }],
    )
    const firing = await workspace.fire('flow')
    const pod = await workspace.running('work')
    await killPod('gateway')

    await operator('scale', 'deployment/graphwright-gateway', '--replicas=0')
    await operator('wait', 'pod', '-l', podOf('gateway'), '--for=delete', '--timeout=60s')
    await workspace.release(pod)
    await commandEnded(workspace, 'work')
    expect((await workspace.run('work')).status?.result).toBeUndefined()
    await operator('scale', 'deployment/graphwright-gateway', '--replicas=1')

    const settled = await workspace.settled(firing, 120_000)
    expect(settled.status).toMatchObject({ phase: 'Succeeded', result: 'completed' })
    const kept = { digest: digestBytes(large), size: Buffer.byteLength(large) }
    expect(settled.status?.steps?.work?.output).toEqual(kept)
    expect(settled.status?.output?.inline).toBe(`${kept.digest.slice('sha256:'.length)}\n`)
    await isDoneOnce(workspace, ['after', 'work'])
  })
})

test('a run outlives the manager: one Session and one Job for each step, and the same result', async () => {
  const workspace = await prepared(
    [shellAgent('work', gated(`echo done > ${result}`)), shellAgent('after', `echo after > ${result}`)],
    [agentStep('work'), agentStep('after')],
  )
  const firing = await workspace.fire('flow')
  const pod = await workspace.running('work')
  await Promise.all([killPod('manager'), workspace.release(pod)])
  expect((await workspace.settled(firing)).status).toMatchObject({ phase: 'Succeeded', output: { inline: 'after\n' } })
  await isDoneOnce(workspace, ['after', 'work'])
})

async function prepared(
  agents: readonly object[],
  nodes: readonly Node[],
  edges: readonly Edge[] = [],
): Promise<Workspace> {
  const workspace = await Workspace.create('restarts')
  await workspace.apply(...surroundings(), ...agents, graph('flow', nodes, edges))
  await workspace.applied('flow')
  return workspace
}

function podOf(component: string): string {
  return `app.kubernetes.io/component=${component}`
}

/** Ends a process of the operator without a word, and waits until another one has taken over. */
async function killPod(component: string): Promise<void> {
  await operator('delete', 'pod', '-l', podOf(component), '--grace-period=0', '--force')
  await operator('rollout', 'status', `deployment/graphwright-${component}`, '--timeout=120s')
}

async function commandEnded(workspace: Workspace, step: string): Promise<void> {
  const { pod = '' } = (await workspace.run(step)).status?.incarnation ?? {}
  const ended = '--for=jsonpath={.status.containerStatuses[0].state.terminated.exitCode}=0'
  await workspace.kubectl('wait', 'pod', pod, ended, '--timeout=60s')
}

/** Each step has one Session, one Run, one Job and one pod, and all statuses are well-formed. */
async function isDoneOnce(workspace: Workspace, steps: readonly string[]): Promise<void> {
  const stepOf = ({ spec }: { readonly spec: { readonly step: string } }) => spec.step
  expect((await workspace.sessions()).map(stepOf).sort()).toEqual(steps)
  expect((await workspace.runs()).map(stepOf).sort()).toEqual(steps)
  expect(await workspace.jobs()).toHaveLength(steps.length)
  expect(await workspace.pods()).toHaveLength(steps.length)
  expect(await workspace.lint()).toEqual([])
}
