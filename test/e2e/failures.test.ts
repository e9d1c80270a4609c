import { beforeEach, describe, expect, test } from 'vitest'
import type { AgentSpec } from '../../src/api/agent.ts'
import type { AutomationFiring } from '../../src/api/automation-firing.ts'
import type { EnvironmentSpec } from '../../src/api/environment.ts'
import { digestBytes } from '../../src/lib/digest.ts'
import { shareCluster } from '../kit/cluster-turn.ts'
import { eventually } from '../kit/eventually.ts'
import { requireNode } from '../kit/node-cluster.ts'
import { agentStep, type Edge, graph, type Node, shellAgent, surroundings } from './manifests.ts'
import { parseTables } from './tables.ts'
import { Workspace } from './workspace.ts'

const result = '/graphwright/output/result'

shareCluster()
beforeEach(requireNode)

/** A step `work` that goes wrong, and what `kubectl get firing` and the message say of it. */
interface Failure {
  readonly title: string
  readonly script: string
  readonly reason: string
  readonly message: RegExp
  readonly agent?: Partial<AgentSpec>
  readonly environment?: Partial<EnvironmentSpec>
  readonly step?: { readonly timeoutSeconds: number }
  /** How long it may take to be told, in milliseconds. */
  readonly patience?: number
}

const outputAdvice = /its output could not be taken .*Write UTF-8 text of at most 1 MiB/

const failures: readonly Failure[] = [
  {
    title: 'a command that ends with a code',
    script: 'echo "the disk is full"; exit 3',
    reason: 'CommandFailed',
    message: /The command ended with exit code 3\. Its log says more: graphwright logs/,
  },
  {
    title: 'an image with a name that is none',
    script: '',
    environment: { image: 'localhost/No:Such:Image' },
    reason: 'ImageUnavailable',
    message: /The image localhost\/No:Such:Image cannot be pulled\. Check its name/,
    // At once, where trying again cannot help.
    patience: 100_000,
  },
  {
    title: 'a step that takes longer than its time',
    // A first process that does not ask for SIGTERM never gets it.
    script: 'trap "exit 143" TERM; sleep 600 & wait',
    step: { timeoutSeconds: 8 },
    reason: 'DeadlineExceeded',
    message: /used up its time.*Raise timeoutSeconds of the step/,
  },
  {
    title: 'a command that takes more memory than its limit',
    script: 'exec tail /dev/zero',
    environment: { resources: { requests: { memory: '16Mi' }, limits: { memory: '48Mi' } } },
    reason: 'OOMKilled',
    message: /used more memory than its limit.*Raise resources\.limits\.memory of the Environment/,
  },
  {
    title: 'a result that is not UTF-8',
    script: `printf '\\377\\376' > ${result}`,
    reason: 'OutputNotUtf8',
    message: outputAdvice,
  },
  {
    title: 'a FIFO in place of a result',
    script: `mkfifo ${result}`,
    reason: 'OutputNotAFile',
    message: outputAdvice,
  },
  {
    title: 'a link in place of a result',
    script: `ln -s /etc/passwd ${result}`,
    reason: 'OutputNotAFile',
    message: outputAdvice,
  },
  {
    title: 'a result over 1 MiB',
    script: `head -c 1048577 /dev/zero | tr '\\0' a > ${result}`,
    reason: 'OutputTooLarge',
    message: outputAdvice,
  },
]

describe.concurrent('a failure has a reason of its own, and says which step and what to do', () => {
  test.for(failures)('$title: $reason', async (failure) => {
    const { script, reason, message, agent, environment, step, patience } = failure
    const workspace = await prepared(environment, [shellAgent('work', script, agent)], [agentStep('work', step)])
    const firing = await workspace.settled(await workspace.fire('flow'), patience)
    expect(firing.status).toMatchObject({ phase: 'Failed', result: 'failed', step: 'work', reason })
    expect(firing.status?.message).toMatch(/^Step work failed: /)
    expect(firing.status?.message).toMatch(message)
    await isTold(workspace, firing)
  })

  test('an image that cannot be pulled, after two minutes of trying: ImageUnavailable', {
    timeout: 240_000,
  }, async () => {
    const workspace = await prepared(
      { image: 'localhost/graphwright-none:dev' },
      [shellAgent('work', '')],
      [agentStep('work')],
    )
    const name = await workspace.fire('flow')
    const waiting = await workspace.firingIn(name, 'Waiting', 'ImageUnavailable')
    expect(waiting.status?.message).toMatch(
      /^Step work waits: The image localhost\/graphwright-none:dev cannot be pulled/,
    )
    expect(await workspace.lint()).toEqual([])

    const firing = await workspace.settled(name, 180_000)
    expect(firing.status).toMatchObject({ phase: 'Failed', step: 'work', reason: 'ImageUnavailable' })
    expect(firing.status?.message).toMatch(
      /^Step work failed: The image .* cannot be pulled\. Check its name, the registry/,
    )
    const { startedAt = '', settledAt = '' } = firing.status ?? {}
    expect(Date.parse(settledAt) - Date.parse(startedAt)).toBeGreaterThanOrEqual(120_000)
    await isTold(workspace, firing)
    await eventually(async () => (await workspace.pods()).length === 0, { timeout: 30_000, interval: 500 })
  })

  test('[A-380] an answer that is no JSON, before anything downstream runs', async () => {
    const workspace = await prepared(
      {},
      [shellAgent('work', `echo 'escalate: yes' > ${result}`), shellAgent('after', 'true')],
      [agentStep('work'), parse({ type: 'object' }), agentStep('after')],
    )
    const firing = await workspace.settled(await workspace.fire('flow'))
    expect(firing.status).toMatchObject({ phase: 'Failed', step: 'parse', reason: 'OutputInvalidJson' })
    expect(firing.status?.message).toMatch(/^Step parse failed: ./)
    expect(firing.status?.steps?.after).toBeUndefined()
    expect(await workspace.sessions()).toHaveLength(1)
    await isTold(workspace, firing)
  })

  test('[A-373] a field that the decision reads and nobody wrote', async () => {
    const condition = { kind: 'predicates', predicates: [{ kind: 'equals', pointer: '/escalate', value: true }] }
    const workspace = await prepared(
      {},
      [shellAgent('work', `echo '{"urgent": true}' > ${result}`), shellAgent('after', 'true')],
      [agentStep('work'), parse({ type: 'object' }), { id: 'decide', kind: 'decision', condition }],
      [
        { kind: 'output', from: 'parse', to: 'decide' },
        { kind: 'continue', from: 'decide' },
        { kind: 'otherwise', from: 'decide' },
      ],
    )
    const firing = await workspace.settled(await workspace.fire('flow'))
    expect(firing.status).toMatchObject({ phase: 'Failed', step: 'decide', reason: 'FieldMissing' })
    expect(firing.status?.message).toMatch(/^Step decide failed: .*\/escalate/)
    await isTold(workspace, firing)
  })
})

describe.concurrent('what is large', () => {
  test('an output over 8 KiB is kept by its digest, and the next step gets it whole as its message', async () => {
    const line = 'größer als acht Kibibyte\n'
    const output = line.repeat(1200)
    const workspace = await prepared(
      {},
      [
        shellAgent('work', `yes '${line.trim()}' | head -n 1200 > ${result}`),
        shellAgent('after', `sha256sum < /graphwright/input/prompt.txt | cut -d ' ' -f 1 > ${result}`),
      ],
      [agentStep('work'), { id: 'after', kind: 'step_agent', agent: 'after' }],
      [{ kind: 'output', from: 'work', to: 'after' }],
    )
    const firing = await workspace.settled(await workspace.fire('flow'))
    const kept = { digest: digestBytes(output), size: Buffer.byteLength(output) }
    expect(firing.status?.phase).toBe('Succeeded')
    expect(firing.status?.steps?.work?.output).toEqual(kept)
    expect((await workspace.run('work')).status?.output).toEqual(kept)
    expect(firing.status?.output?.inline).toBe(`${kept.digest.slice('sha256:'.length)}\n`)
  })

  test('of a command that prints a lot the last 64 KiB are kept', async () => {
    // Busy, containerd 1.6 gives up on what it has not copied two seconds after the end.
    const script = 'seq 1 20000; echo the end; sleep 3'
    const workspace = await prepared({}, [shellAgent('work', script)], [agentStep('work')])
    const firing = await workspace.fire('flow')
    await workspace.settled(firing)
    const kept = await eventually(async () => (await workspace.run('work')).status?.logs ?? false, { timeout: 20_000 })
    const printed = `${Array.from({ length: 20_000 }, (_, index) => index + 1).join('\n')}\nthe end\n`
    const tail = Buffer.from(printed).subarray(-64 * 1024)
    expect(kept).toEqual({ digest: digestBytes(tail), size: tail.byteLength })
    const { code, stdout } = await workspace.graphwright(['logs', firing])
    expect([code, stdout]).toEqual([0, printed])
  })
})

/** A workspace with the graph `flow` applied and ready to be fired. */
async function prepared(
  environment: Partial<EnvironmentSpec> | undefined,
  agents: readonly object[],
  nodes: readonly Node[],
  edges: readonly Edge[] = [],
): Promise<Workspace> {
  const workspace = await Workspace.create('failures')
  await workspace.apply(...surroundings(environment), ...agents, graph('flow', nodes, edges))
  await workspace.applied('flow')
  return workspace
}

function parse(outputSchema: object): Node {
  return { id: 'parse', kind: 'step_parse_json', inputBindings: { content: { sourceNodeId: 'work' } }, outputSchema }
}

/** What is in the status is also what people see, and all statuses are well-formed. */
async function isTold(workspace: Workspace, { metadata, status }: AutomationFiring): Promise<void> {
  const rows = parseTables(await workspace.kubectl('get', 'firing', metadata.name)).get('')
  expect(rows).toEqual([expect.objectContaining({ PHASE: 'Failed', STEP: status?.step, REASON: status?.reason })])
  // Events are written in the background, after what they tell of.
  await eventually(async () => (await workspace.kubectl('describe', 'firing', metadata.name)).includes('StepFailed'))
  const { code, stdout } = await workspace.graphwright(['trace', metadata.name])
  expect([code, stdout]).toEqual([0, expect.stringContaining(status?.message ?? '')])
  expect(await workspace.lint()).toEqual([])
}
