import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { dump, load } from 'js-yaml'
import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest'
import { kindObstacle } from '../../hack/demo/kind.ts'
import { ensureCluster, images, kubectl, loadImage, removeCluster, root } from '../../hack/operator.ts'
import { kubectl as kubectlHere, nodeCluster, requireNode } from '../kit/node-cluster.ts'

/** A second cluster, that the demo did not make and reaches by a context alone. */
const stranger = `${'unavailable' in inject('nodeCluster') ? 'e2e' : nodeCluster().name}-stranger`
const folder = mkdtempSync(join(tmpdir(), 'graphwright-demo-'))
const minutes = 60_000
let env: NodeJS.ProcessEnv

interface Config {
  readonly clusters: { cluster: object }[]
  readonly users: { user: object }[]
}

/** The kubeconfig of a person with two clusters, of which the one of this run is current. */
function personsConfig(strangers: string): string {
  const [here, there] = [nodeCluster().kubeconfig, strangers].map((path) => load(readFileSync(path, 'utf8')) as Config)
  const named = [
    ['here', here],
    ['there', there],
  ] as const
  return dump({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'here',
    clusters: named.map(([name, config]) => ({ name, cluster: config?.clusters[0]?.cluster })),
    users: named.map(([name, config]) => ({ name, user: config?.users[0]?.user })),
    contexts: named.map(([name]) => ({ name, context: { cluster: name, user: name } })),
  })
}

async function make(...args: readonly string[]): Promise<{ code: number | null; output: string }> {
  const child = spawn('make', ['--no-print-directory', ...args], { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'] })
  const chunks: Buffer[] = []
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => chunks.push(chunk))
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve))
  return { code, output: Buffer.concat(chunks).toString() }
}

/**
 * What Prometheus does: from a pod of another namespace, each address behind the Service. Tries for a while, because a
 * new pod has to be let in by those who enforce NetworkPolicies.
 */
const scraper = `
  const { lookup } = require('node:dns/promises')
  const { setTimeout: sleep } = require('node:timers/promises')
  const service = 'graphwright-metrics.graphwright-system.svc.cluster.local'
  async function scrape() {
    const found = await lookup(service, { all: true })
    const urls = found.map(({ address }) => 'http://' + address + ':8080/metrics')
    return Promise.all(urls.map(async (url) => (await fetch(url)).text()))
  }
  async function main(tries) {
    const texts = await scrape().catch((error) => { if (tries === 0) throw error })
    if (texts === undefined) return sleep(500).then(() => main(tries - 1))
    console.log(JSON.stringify(texts))
  }
  main(60)`

/** Both managers and the gateway are behind the Service for Prometheus, and let themselves be scraped. */
function expectScraped(there: (...args: readonly string[]) => string): void {
  const image = '--image=localhost/graphwright:dev'
  there('run', 'scraper', '-n', 'default', image, '--restart=Never', '--command', '--', 'node', '-e', scraper)
  there('wait', 'pod/scraper', '-n', 'default', '--for=jsonpath={.status.phase}=Succeeded', '--timeout=60s')
  const texts = JSON.parse(there('logs', 'scraper', '-n', 'default')) as string[]
  there('delete', 'pod', 'scraper', '-n', 'default')
  for (const text of texts) expect(text).toMatch(/^graphwright_ready 1$/m)
  const leaders = texts.filter((text) => /^leader_election_master_status\{.*\} 1$/m.test(text))
  const gateways = texts.filter((text) => text.includes('graphwright_gateway_requests_total{'))
  expect([texts.length, leaders.length, gateways.length]).toEqual([3, 1, 1])
}

describe('make demo on a cluster of somebody else', () => {
  beforeAll(() => {
    if ('unavailable' in inject('nodeCluster')) return
    const kubeconfig = ensureCluster(stranger)
    // As if a registry had it.
    loadImage(stranger, images[0])
    const config = join(folder, 'config')
    writeFileSync(config, personsConfig(kubeconfig))
    env = { ...process.env, KUBECONFIG: config }
  }, 3 * minutes)

  afterAll(() => {
    rmSync(folder, { recursive: true, force: true })
    if (!('unavailable' in inject('nodeCluster'))) removeCluster(stranger)
  })

  beforeEach(requireNode)

  it('by its context: from nothing to the answer of an agent, and back to nothing', {
    timeout: 5 * minutes,
  }, async () => {
    const there = (...args: readonly string[]) => kubectl(stranger, args)
    const contents = () => there('get', 'namespaces,crd,clusterroles,validatingadmissionpolicies', '-o', 'name')
    const before = contents()
    const demo = await make('demo', 'CONTEXT=there', 'IMAGE=localhost/graphwright:dev', 'STORAGE_CLASS=local', 'YES=1')
    expect(demo.output).toMatch(/^Done in \d+ s\. To look around:$/m)
    expect(demo.output).toContain('Please look now: 1 of ')
    expect(demo.output).toContain('make demo-down CONTEXT=there')
    expect(demo.code).toBe(0)
    const phases = "jsonpath={range .items[*]}{.status.phase}{'\\n'}{end}"
    expect(there('get', 'firing', '-n', 'graphwright-demo', '-o', phases)).toBe('Succeeded\nSucceeded\n')
    expectScraped(there)
    // The cluster that is current was not meant.
    expect(await kubectlHere(['get', 'namespace', 'graphwright-demo', '--ignore-not-found'])).toBe('')

    const down = await make('demo-down', 'CONTEXT=there', 'YES=1')
    expect(down.output).toContain('It is as it was before.')
    expect(down.code).toBe(0)
    expect(contents()).toBe(before)
  })
})

describe('make demo on kind', () => {
  beforeEach((context) => {
    const obstacle = kindObstacle()
    if (obstacle !== undefined) context.skip(obstacle)
  })

  it('makes a cluster with the images in it, and removes it', { timeout: 15 * minutes }, async () => {
    env = { ...process.env, KUBECONFIG: join(folder, 'kind') }
    const demo = await make('demo', 'CLUSTER=kind')
    expect(demo.output).toMatch(/^Done in \d+ s\. To look around:$/m)
    expect(demo.code).toBe(0)
    expect((await make('demo-down', 'CLUSTER=kind')).code).toBe(0)
  })
})
