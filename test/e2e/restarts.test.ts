import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { operatorNamespace } from '../../hack/operator.ts'
import { digestBytes } from '../../src/lib/digest.ts'
import { eventually } from '../kit/eventually.ts'
import { kubectl, requireNode } from '../kit/node-cluster.ts'
import { agentStep, type Edge, graph, type Node, shellAgent, surroundings } from './manifests.ts'
import { gated, Workspace } from './workspace.ts'

const result = '/graphwright/output/result'

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
    expect(status?.message).toMatch(/^Step work waits: The pod was deleted.*look at what it did.*repeatSafe/)
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
    const second = await eventually(
      async () => {
        const pod = await workspace.running('work')
        return pod.metadata.uid !== first.metadata.uid && pod
      },
      { timeout: 60_000, interval: 200 },
    )
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
  edges: readonly Edge[] = [],
): Promise<Workspace> {
  const workspace = await Workspace.create('restarts')
  await workspace.apply(...surroundings(), ...agents, graph('flow', nodes, edges))
  await workspace.applied('flow')
  return workspace
}

/** kubectl in the operator's namespace. */
function operator(...args: readonly string[]): Promise<string> {
  return kubectl(['-n', operatorNamespace, ...args])
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
