import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, inject, it } from 'vitest'
import { kinds } from '../../../src/api/kinds.ts'
import { ContentFiles } from '../../../src/gateway/contents.ts'
import type { KubeClient } from '../../../src/kube/client.ts'
import { digestBytes } from '../../../src/lib/digest.ts'
import { ensureCertificates } from '../../../src/runtime/certificates.ts'
import { systemClock } from '../../../src/runtime/clock.ts'
import { freshNamespace, testClient } from '../../kit/control-plane.ts'
import { installCrds } from '../../kit/crds.ts'
import { eventually } from '../../kit/eventually.ts'
import { callGateway, Workspace } from './support.ts'

let client: KubeClient
const folder = mkdtempSync(join(tmpdir(), 'graphwright-gateway-'))
const children: ChildProcess[] = []

beforeAll(async () => {
  client = testClient({ types: kinds })
  await installCrds(client)
})

afterAll(() => {
  for (const child of children) child.kill('SIGKILL')
  rmSync(folder, { recursive: true, force: true })
})

interface Ports {
  readonly port: number
  readonly metricsPort: number
}

/** `graphwright gateway` as a process of its own. */
function startGateway(namespace: string, { port, metricsPort }: Ports): ChildProcess {
  const module = new URL('../../../src/bin/gateway.ts', import.meta.url).href
  const args = [`--data-dir=${folder}`, `--port=${port}`, `--metrics-port=${metricsPort}`]
  const program = `import { run } from ${JSON.stringify(module)}; await run(${JSON.stringify(args)})`
  const env = { ...process.env, KUBECONFIG: inject('kubeconfig'), POD_NAMESPACE: namespace }
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  children.push(child)
  return child
}

async function freePorts(): Promise<Ports> {
  const servers = [createServer().listen(0, '127.0.0.1'), createServer().listen(0, '127.0.0.1')]
  await Promise.all(servers.map((server) => once(server, 'listening')))
  const [port = 0, metricsPort = 0] = servers.map((server) => (server.address() as { port: number }).port)
  await Promise.all(servers.map((server) => once(server.close(), 'close')))
  return { port, metricsPort }
}

async function readiness({ metricsPort }: Ports): Promise<{ status: number; text: string }> {
  const answer = await fetch(`http://127.0.0.1:${metricsPort}/readyz`)
  return { status: answer.status, text: await answer.text() }
}

it('gets ready when it has its certificate, loses nothing when it is killed, and ends in order', async () => {
  const namespace = await freshNamespace(client)
  const ports = await freePorts()
  const first = startGateway(namespace, ports)
  await eventually(async () => {
    const { status, text } = await readiness(ports)
    expect([status, text]).toEqual([503, 'waiting for the manager to make the serving certificate\n'])
  })
  const { caPem } = await ensureCertificates(client, { namespace, clock: systemClock })
  await eventually(async () => expect(await readiness(ports)).toMatchObject({ status: 200 }))

  const team = await Workspace.create(client)
  const { run, token } = await team.recordedRun()
  const body = { output: 'large '.repeat(5000) }
  const target = { port: ports.port, namespace, caPem }
  const report = () => callGateway(target, '/runs/v1/self/result', { method: 'POST', token, body })
  const recorded = await report()
  expect(recorded.status).toBe(200)

  first.kill('SIGKILL')
  await once(first, 'exit')
  const second = startGateway(namespace, ports)
  await eventually(async () => expect(await readiness(ports)).toMatchObject({ status: 200 }))
  expect(await report()).toMatchObject({ status: 200, text: recorded.text })
  const { digest } = (await team.live(run)).status?.result?.output ?? { digest: '' }
  expect(digest).toBe(digestBytes(body.output))
  expect(Buffer.from(await (await ContentFiles.open(folder)).get(digest)).toString()).toBe(body.output)

  const metrics = await (await fetch(`http://127.0.0.1:${ports.metricsPort}/metrics`)).text()
  expect(metrics).toContain(
    'graphwright_gateway_requests_total{route="/runs/v1/self/result",method="POST",code="200"} 1',
  )
  expect(metrics).toMatch(/graphwright_gateway_contents_free_bytes [1-9]/)
  expect(metrics).toContain('graphwright_ready 1')
  second.kill('SIGTERM')
  const [code] = await once(second, 'exit')
  expect(code).toBe(0)
})

it('says what is wrong with its flags, and ends', async () => {
  const child = startGateway('', { port: 0, metricsPort: 0 })
  const chunks: Buffer[] = []
  child.stderr?.on('data', (chunk: Buffer) => chunks.push(chunk))
  const [code] = await once(child, 'exit')
  expect(code).not.toBe(0)
  expect(Buffer.concat(chunks).toString()).toContain('POD_NAMESPACE must name the namespace')
})
