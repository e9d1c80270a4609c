import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import type { AutomationFiringSpec } from '../../src/api/automation-firing.ts'
import { apiVersion } from '../../src/api/kind.ts'
import { shareCluster } from '../kit/cluster-turn.ts'
import { clusterCommand, nodeCluster, requireNode } from '../kit/node-cluster.ts'
import { agentStep, graph, shellAgent, surroundings } from './manifests.ts'
import { parseTables } from './tables.ts'
import { Workspace } from './workspace.ts'

const result = '/graphwright/output/result'
const greeting = shellAgent('work', `echo hello > ${result}`)

shareCluster()
beforeEach(requireNode)

describe.concurrent('a graph that names what is not there', () => {
  test('gets a plan that is blocked, says by what, and cannot be approved', async () => {
    const workspace = await Workspace.create('missing')
    await workspace.apply(graph('flow', [agentStep('work')]))
    await workspace.kubectl('wait', 'agraph/flow', '--for=condition=Planned', '--timeout=30s')
    const plans = parseTables(await workspace.kubectl('get', 'agplan')).get('')
    expect(plans).toEqual([expect.objectContaining({ PHASE: 'Blocked', BLOCKERS: '3' })])
    const refused = await workspace.graphwright(['approve', 'flow'])
    expect(refused.code).toBe(1)
    expect(refused.stderr).toMatch(
      /^error: plan_blocked: plan flow-1 is blocked; resolve this, which makes a new plan: /,
    )
    for (const name of ['Environment work', 'ServiceAccount worker', 'Agent work']) {
      expect(refused.stderr).toContain(name)
    }
    expect((await workspace.graphwright(['run', 'flow'])).stderr).toMatch(/^error: not_applied: .*approve/)

    await workspace.apply(...surroundings(), greeting)
    await workspace.applied('flow')
    const firing = await workspace.settled(await workspace.fire('flow'))
    expect(firing.status).toMatchObject({ phase: 'Succeeded', output: { inline: 'hello\n' } })
    expect(await workspace.lint()).toEqual([])
  })

  test('[N-138] an Automation without its Environment fires nothing, and says so', async () => {
    const workspace = await Workspace.create('missing')
    await workspace.apply(...surroundings(), greeting, directAutomation('nowhere'))
    await workspace.kubectl('wait', 'auto/direct', '--for=condition=Ready=False', '--timeout=30s')
    const [row] = parseTables(await workspace.kubectl('get', 'auto', 'direct')).get('') ?? []
    expect(row).toMatchObject({ STATE: 'NotReady', READY: 'False' })
    const asked = await workspace.graphwright(['run', 'direct', '-o', 'json'])
    expect(asked.stderr).toMatch(/warning: direct is not ready: .*nowhere/)
    const { status } = await workspace.settled(JSON.parse(asked.stdout).firing)
    expect(status).toMatchObject({ phase: 'Failed', reason: 'NotReady', message: expect.stringContaining('nowhere') })
    expect(await workspace.sessions()).toEqual([])
  })
})

describe.concurrent('a request that cannot be', () => {
  test('an event that is no JSON, or not there, starts nothing', async () => {
    const workspace = await automated()
    const files = { 'half.json': '{"items": [', 'twice.json': '{"a": 1, "a": 2}' }
    const paths = Object.entries(files).map(([name, text]) => {
      const path = join(nodeCluster().tools, `${workspace.namespace}-${name}`)
      writeFileSync(path, text)
      return path
    })
    for (const path of paths) {
      const { code, stderr } = await workspace.graphwright(['run', 'flow', '--event', `@${path}`])
      expect([code, stderr]).toEqual([2, expect.stringContaining(`error: event_invalid: the event in ${path}`)])
    }
    const absent = await workspace.graphwright(['run', 'flow', '--event', '@/no/such.json'])
    expect(absent).toMatchObject({ code: 2, stderr: expect.stringContaining('check the path after @') })
    const list = await workspace.ask<{ items: unknown[] }>('runs', 'flow')
    expect(list.items).toEqual([])
  })

  test('a name that is not there is answered with those that are', async () => {
    const workspace = await automated()
    const { code, stderr } = await workspace.graphwright(['run', 'flew'])
    expect([code, stderr]).toEqual([2, expect.stringMatching(/^error: not_found: .*flew.*flow/)])
    const trigger = await workspace.graphwright(['run', 'flow', '--trigger', 'weekday'])
    expect([trigger.code, trigger.stderr]).toEqual([2, expect.stringMatching(/no trigger weekday; it has: by-hand/)])
  })

  test('a cluster that cannot be reached is named, in one line', async () => {
    const workspace = await Workspace.create('unreachable')
    const kubeconfig = join(nodeCluster().tools, 'unreachable.kubeconfig')
    writeFileSync(kubeconfig, unreachable)
    const { code, stderr, stdout } = await workspace.graphwright(['list'], { kubeconfig })
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toMatch(/^error: unreachable: .*127\.0\.0\.1:1\b.*--context\n$/)
  })
})

describe.concurrent('people', () => {
  test('without rights are told which ones they lack, and change nothing', async () => {
    const workspace = await automated()
    const kubeconfig = await kubeconfigOf('nobody')
    for (const args of [['list'], ['run', 'flow'], ['approve', 'flow']]) {
      const { code, stderr } = await workspace.graphwright(args, { kubeconfig })
      expect([code, stderr]).toEqual([2, expect.stringMatching(/^error: forbidden: .*"nobody".*graphwright-edit/)])
    }
    expect((await workspace.ask<{ items: unknown[] }>('runs', 'flow')).items).toEqual([])
  })

  test('who may edit may fire as themselves, and as nobody else', async () => {
    const workspace = await automated()
    const kubeconfig = await kubeconfigOf('jane')
    await workspace.kubectl('create', 'rolebinding', 'jane', '--clusterrole=edit', '--user=jane')
    const create = (spec: Partial<AutomationFiringSpec>) =>
      workspace.tryKubectl(['create', '-o', 'name', '-f', '-'], { kubeconfig, input: JSON.stringify(firing(spec)) })

    const forged = await create({ requestedBy: 'admin' })
    expect(forged).toMatchObject({ code: 1, stderr: expect.stringMatching(/requestedBy.*jane/) })
    const scheduled = await create({ trigger: 'schedule', occurrence: '2026-11-30T09:00:00Z' })
    expect(scheduled).toMatchObject({ code: 1, stderr: expect.stringContaining('manual') })
    expect((await workspace.tryKubectl(['get', 'firing', '-o', 'name'])).stdout).toBe('')

    const own = await create({})
    expect(own).toMatchObject({ code: 0 })
    const name = own.stdout.trim().split('/')[1] ?? ''
    expect((await workspace.settled(name)).status).toMatchObject({ phase: 'Succeeded' })
    const status = ['patch', 'firing', name, '--subresource=status', '--type=merge', '-p', '{"status":{"step":"x"}}']
    expect((await workspace.tryKubectl(status, { kubeconfig })).code).toBe(1)
  })
})

describe.concurrent('fired twice, or not to be fired', () => {
  test('[A-308] the same key is the same firing, and with another event it is a conflict', async () => {
    const workspace = await automated()
    const key = ['--idempotency-key', 'order-1041']
    const [first, again] = await Promise.all([
      workspace.fire('flow', ...key, '--event', '{"a": 1}'),
      workspace.fire('flow', ...key, '--event', '{"a": 1}'),
    ])
    expect(again).toBe(first)
    await workspace.settled(first)
    const conflict = await workspace.graphwright(['run', 'flow', ...key, '--event', '{"a": 2}'])
    expect(conflict).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^error: validation\.conflict: .*order-1041/),
    })
    expect((await workspace.ask<{ items: unknown[] }>('runs', 'flow')).items).toHaveLength(1)
    expect(await workspace.runs()).toHaveLength(1)
  })

  test('[A-174] a paused Automation refuses; a firing made all the same is skipped', async () => {
    const workspace = await automated()
    await workspace.kubectl('patch', 'auto', 'flow', '--type=merge', '-p', '{"spec":{"paused":true}}')
    const refused = await workspace.graphwright(['run', 'flow'])
    expect(refused).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^error: validation\.conflict: .*resume it/),
    })
    const input = JSON.stringify(firing({ requestedBy: 'admin' }))
    const created = await workspace.tryKubectl(['create', '-o', 'name', '-f', '-'], { input })
    const name = created.stdout.trim().split('/')[1] ?? ''
    const { status } = await workspace.settled(name)
    expect(status).toMatchObject({
      phase: 'Skipped',
      reason: 'Paused',
      message: expect.stringContaining('spec.paused'),
    })
    expect(await workspace.sessions()).toEqual([])
    const rows = parseTables(await workspace.kubectl('get', 'firing')).get('')
    expect(rows).toEqual([expect.objectContaining({ NAME: name, PHASE: 'Skipped', REASON: 'Paused' })])
    expect(await workspace.lint()).toEqual([])

    await workspace.kubectl('patch', 'auto', 'flow', '--type=merge', '-p', '{"spec":{"paused":false}}')
    expect((await workspace.settled(await workspace.fire('flow'))).status?.phase).toBe('Succeeded')
  })
})

async function automated(): Promise<Workspace> {
  const workspace = await Workspace.create('input')
  await workspace.apply(...surroundings(), greeting, graph('flow', [agentStep('work')]))
  await workspace.applied('flow')
  return workspace
}

function directAutomation(environment: string): object {
  const triggers = [{ id: 'by-hand', kind: 'manual' }]
  const spec = { triggers, target: { agent: { name: 'work' } }, environment, serviceAccountName: 'worker' }
  return { apiVersion, kind: 'Automation', metadata: { name: 'direct' }, spec }
}

/** A firing as `kubectl create` sends it, by jane unless told otherwise. */
function firing(spec: Partial<AutomationFiringSpec>): object {
  return {
    ...{ apiVersion, kind: 'AutomationFiring', metadata: { generateName: 'flow-manual-' } },
    spec: { automation: { name: 'flow' }, trigger: 'manual', requestedBy: 'jane', ...spec },
  }
}

/** Path of the kubeconfig of a user who signs in by a certificate of the cluster. */
async function kubeconfigOf(user: string): Promise<string> {
  const output = join(nodeCluster().tools, `${user}.kubeconfig`)
  await clusterCommand('kubeconfig', '--user', user, '--output', output)
  return output
}

const unreachable = JSON.stringify({
  ...{ apiVersion: 'v1', kind: 'Config', 'current-context': 'away' },
  clusters: [{ name: 'away', cluster: { server: 'https://127.0.0.1:1' } }],
  users: [{ name: 'me', user: {} }],
  contexts: [{ name: 'away', context: { cluster: 'away', user: 'me' } }],
})
