import { readFileSync } from 'node:fs'
import { beforeEach, describe, expect, test } from 'vitest'
import { apiVersion } from '../../src/api/kind.ts'
import { runnerEnv } from '../../src/api/run-api.ts'
import { type Job, podType, serviceType } from '../../src/kube/core-types.ts'
import { shareCluster } from '../kit/cluster-turn.ts'
import { observer, requireNode } from '../kit/node-cluster.ts'
import { agentStep, graph, samplesImage, shellAgent, surroundings } from './manifests.ts'
import { gated, Workspace } from './workspace.ts'

const gatewayUrl = 'https://graphwright-gateway.graphwright-system.svc:8443/runs/v1/self'

/** What the agent of agents/probe.mjs tells. */
interface Report {
  readonly reached: Readonly<Record<string, boolean>>
  readonly dns: boolean
  readonly gateway: number | string
  readonly uid: number
  readonly tokens: readonly string[]
  readonly runnerFiles: readonly string[]
  readonly processes: readonly string[]
  readonly inputWritable: boolean
}

shareCluster()
beforeEach(requireNode)

describe.concurrent('the pod of an agent', () => {
  test('isolated, reaches the gateway and nothing else, and holds no token', async () => {
    const { reached, dns, gateway, ...rest } = await probe('isolated')
    expect(reached).toEqual({ apiServer: false, apiServerOnNode: false, kubelet: false, neighbour: false, dns: false })
    expect(dns).toBe(false)
    // It answers, and wants a token that this container does not have.
    expect(gateway).toBe(401)
    expect(rest).toMatchObject({ tokens: [], runnerFiles: [], inputWritable: false })
  })

  test('open, reaches what any pod reaches, and holds no token either', async () => {
    const { reached, dns, gateway, ...rest } = await probe('open')
    expect(reached).toEqual({ apiServer: true, apiServerOnNode: true, kubelet: true, neighbour: true, dns: true })
    expect(dns).toBe(true)
    expect(gateway).toBe(401)
    expect(rest).toMatchObject({ tokens: [], runnerFiles: [], inputWritable: false })
  })

  test('runs as another user than the runner beside it, and sees none of its processes', async () => {
    const workspace = await Workspace.create('isolation')
    await workspace.apply(...surroundings(), shellAgent('work', gated('true')), graph('flow', [agentStep('work')]))
    await workspace.applied('flow')
    const firing = await workspace.fire('flow')
    const pod = await workspace.running('work')
    const uidIn = (container: string) =>
      pod.spec.initContainers?.find(({ name }) => name === container)?.securityContext
    const seen = await workspace.kubectl(
      'exec',
      pod.metadata.name,
      '-c',
      'agent',
      '--',
      'sh',
      '-c',
      'id -u; ps -o args',
    )
    const [uid, ...processes] = seen.trim().split('\n')
    expect(uidIn('runner')).toMatchObject({ runAsUser: expect.any(Number) })
    expect(Number(uid)).not.toBe(uidIn('runner')?.runAsUser)
    expect(processes.filter((line) => line.includes('runner.cjs'))).toEqual([])
    await workspace.release(pod)
    expect((await workspace.settled(firing)).status?.phase).toBe('Succeeded')
  })

  test('with the labels and the owner of another, gets nothing from the gateway', async () => {
    const workspace = await Workspace.create('borrowed')
    const script = gated('echo mine > /graphwright/output/result')
    await workspace.apply(...surroundings(), shellAgent('work', script), graph('flow', [agentStep('work')]))
    await workspace.applied('flow')
    const firing = await workspace.fire('flow')
    const pod = await workspace.running('work')
    const [job] = await workspace.jobs()
    if (job === undefined) throw new Error('a running pod has a Job')

    const asRunner = await workspace.tryKubectl(['create', '-f', '-'], {
      input: JSON.stringify(borrower(job, 'graphwright-runner')),
    })
    expect(asRunner).toMatchObject({ code: 1, stderr: expect.stringContaining('is for the pods of Runs') })

    await workspace.apply(borrower(job, 'worker'))
    const finished = '--for=jsonpath={.status.phase}=Succeeded'
    await workspace.kubectl('wait', 'pod/borrower', finished, '--timeout=60s')
    const answers = (await workspace.kubectl('logs', 'borrower')).trim().split('\n')
    expect(answers).toEqual(['self 403 auth.forbidden', 'result 403 auth.forbidden', 'blobs 403 auth.forbidden'])

    const unbound = await workspace.kubectl('create', 'token', 'graphwright-runner', '--audience=graphwright')
    expect(await askFrom(workspace, job, unbound.trim())).toBe('401 auth.invalid_token')

    expect((await workspace.run('work')).status?.result).toBeUndefined()
    await workspace.release(pod)
    expect((await workspace.settled(firing)).status).toMatchObject({ phase: 'Succeeded', output: { inline: 'mine\n' } })
  })
})

/** Runs the probe as an agent beside a pod that listens. */
async function probe(network: 'isolated' | 'open'): Promise<Report> {
  const workspace = await Workspace.create('isolation')
  await workspace.apply(listener())
  await workspace.kubectl('wait', 'pod/listener', '--for=condition=Ready', '--timeout=60s')
  const { hostIP, podIP } =
    (await observer().get(podType, { name: 'listener', namespace: workspace.namespace })).status ?? {}
  const dns = await clusterIP('kube-system', 'kube-dns')
  const targets = {
    apiServer: `${await clusterIP('default', 'kubernetes')}:443`,
    apiServerOnNode: `${hostIP}:6443`,
    kubelet: `${hostIP}:10250`,
    neighbour: `${podIP}:8080`,
    dns: `${dns}:53`,
  }
  const env = Object.entries({ PROBE_TARGETS: JSON.stringify(targets), PROBE_DNS: dns, PROBE_GATEWAY: gatewayUrl })
  const environment = { network, env: env.map(([name, value]) => ({ name, value })) }
  const agent = {
    ...{ apiVersion, kind: 'Agent', metadata: { name: 'work' } },
    spec: { runtime: { container: { command: ['node', '--input-type=module', '--eval'], args: [probeSource] } } },
  }
  await workspace.apply(...surroundings(environment), agent, graph('flow', [agentStep('work')]))
  await workspace.applied('flow')
  const { status } = await workspace.settled(await workspace.fire('flow'))
  expect(status).toMatchObject({ phase: 'Succeeded' })
  return JSON.parse(status?.output?.inline ?? '') as Report
}

const probeSource = readFileSync(new URL('agents/probe.mjs', import.meta.url), 'utf8')

async function clusterIP(namespace: string, name: string): Promise<string> {
  return (await observer().get(serviceType, { name, namespace })).spec.clusterIP ?? ''
}

/** A pod that serves HTTP on 8080, and that nothing keeps anybody from. */
function listener(): object {
  const script = "require('node:http').createServer((_, answer) => answer.end('here')).listen(8080)"
  const container = { command: ['node', '--eval', script], readinessProbe: { tcpSocket: { port: 8080 } } }
  return plainPod('listener', container)
}

/**
 * A pod with the owner and our labels of a Job's pod, which asks the gateway with a token of its own. The labels that
 * Kubernetes selects a Job's pods by are left out: the Job controller would take it for a pod too many and end it.
 */
function borrower(job: Job, serviceAccountName: string): object {
  const { uid, name } = job.metadata
  const owner = { apiVersion: 'batch/v1', kind: 'Job', name, uid, controller: false, blockOwnerDeletion: false }
  const all = Object.entries(job.spec.template.metadata?.labels ?? {})
  const labels = Object.fromEntries(all.filter(([label]) => label.startsWith('graphwright.dev/')))
  const sources = [{ serviceAccountToken: { audience: 'graphwright', path: 'token' } }]
  const container = {
    command: ['node', '--eval', askScript],
    env: job.spec.template.spec.initContainers?.[0]?.env,
    volumeMounts: [{ name: 'token', mountPath: '/token' }],
  }
  const { dnsPolicy, dnsConfig, hostAliases } = job.spec.template.spec
  return plainPod('borrower', container, {
    metadata: { labels, ownerReferences: [owner] },
    spec: {
      ...{ serviceAccountName, dnsPolicy, dnsConfig, hostAliases },
      volumes: [{ name: 'token', projected: { sources } }],
    },
  })
}

/** Asks with the token of /token/token, or with the one in TOKEN, as soon as the network lets the new pod through. */
const askScript = `
  const { readFileSync } = require('node:fs')
  const { request } = require('node:https')
  const url = process.env.${runnerEnv.gatewayUrl}
  const token = process.env.TOKEN ?? readFileSync('/token/token', 'utf8')
  const send = (name, method, path, body) => new Promise((resolve, reject) => {
    const headers = { authorization: 'Bearer ' + token, 'content-type': 'application/json' }
    const outgoing = request(new URL(path, url), { method, headers, ca: process.env.${runnerEnv.gatewayCa} }, (answer) => {
      let text = ''
      answer.on('data', (chunk) => { text += chunk })
      answer.on('end', () => resolve(console.log(name, answer.statusCode, JSON.parse(text).error?.type)))
    })
    outgoing.on('error', reject)
    outgoing.end(body)
  })
  const ask = async (...what) => {
    for (let tries = 0; tries < 60; tries++) {
      try { return await send(...what) } catch { await new Promise((resolve) => setTimeout(resolve, 500)) }
    }
    console.log('the gateway cannot be reached')
  }
  const digest = 'sha256:' + '0'.repeat(64)
  ask('self', 'GET', '/runs/v1/self')
    .then(() => ask('result', 'POST', '/runs/v1/self/result', '{"output":"stolen"}'))
    .then(() => ask('blobs', 'GET', '/runs/v1/blobs/' + digest))
`

/** Answer to `GET /runs/v1/self` with a token, asked from a pod. */
async function askFrom(workspace: Workspace, job: Job, token: string): Promise<string> {
  const env = [...(job.spec.template.spec.initContainers?.[0]?.env ?? []), { name: 'TOKEN', value: token }]
  await workspace.apply(plainPod('stranger', { command: ['node', '--eval', askScript], env }))
  await workspace.kubectl('wait', 'pod/stranger', '--for=jsonpath={.status.phase}=Succeeded', '--timeout=60s')
  const [self = ''] = (await workspace.kubectl('logs', 'stranger')).split('\n')
  return self.replace('self ', '')
}

/** A pod that Pod Security restricted lets through. */
function plainPod(name: string, container: object, more: { metadata?: object; spec?: object } = {}): object {
  const seccompProfile = { type: 'RuntimeDefault' }
  const restricted = { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } }
  return {
    ...{ apiVersion: 'v1', kind: 'Pod', metadata: { name, ...more.metadata } },
    spec: {
      restartPolicy: 'Never',
      securityContext: { runAsNonRoot: true, runAsUser: 65533, seccompProfile },
      containers: [{ name: 'main', image: samplesImage, securityContext: restricted, ...container }],
      ...more.spec,
    },
  }
}
