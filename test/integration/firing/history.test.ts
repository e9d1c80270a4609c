import { expect, it } from 'vitest'
import { automation } from '../../../src/api/automation.ts'
import type { AutomationGraphSpec } from '../../../src/api/automation-graph.ts'
import { compressedClock } from '../../kit/compressed-clock.ts'
import { storedIn } from '../../kit/etcd.ts'
import { eventually } from '../../kit/eventually.ts'
import { startOperator } from '../../kit/operator.ts'
import { chainGraph, Workspace } from './workspace.ts'

/** Twelve minutes pass in a second. */
const speed = 720
const names = (list: readonly { readonly metadata: { readonly name: string } }[]) =>
  list.map(({ metadata }) => metadata.name)

/** The garbage collector learns of new kinds every half minute. */
const collected = { timeout: 45_000 }

it('the limits of an Automation hold, and what goes takes its Sessions and Runs along', async () => {
  const workspace = await Workspace.create()
  await startOperator(workspace.client, workspace.namespace, { clock: compressedClock(speed, Date.now()) })
  const history = { successfulLimit: 1, failedLimit: 1, skippedLimit: 1, detailRetentionSeconds: 86_400 }
  await workspace.createAutomation({ history })
  await workspace.automationReady()
  for (const name of ['triage-manual-1', 'triage-manual-2']) {
    await workspace.fire({}, name)
    await workspace.settled(name)
  }
  await eventually(async () => expect(names(await workspace.firings())).toEqual(['triage-manual-2']), collected)
  expect((await workspace.automation()).status?.last?.firing).toBe('triage-manual-2')
  await eventually(async () => {
    expect(await workspace.sessions()).toHaveLength(1)
    expect(await workspace.runs()).toHaveLength(1)
  }, collected)
  // Asked for less, it keeps less, and still says what came last.
  const ref = { ...automation, name: 'triage', namespace: workspace.namespace }
  await workspace.client.mergePatch(ref, { spec: { history: { successfulLimit: 0 } } })
  await eventually(async () => expect(await workspace.firings()).toEqual([]), { timeout: 20_000 })
  expect((await workspace.automation()).status?.last?.firing).toBe('triage-manual-2')
})

it('Sessions and Runs go after their time, and the firing keeps its outputs', async () => {
  const workspace = await Workspace.create({ triage: 'seen', log: 'logged' })
  await startOperator(workspace.client, workspace.namespace, { clock: compressedClock(speed, Date.now()) })
  await workspace.applyGraph(chainGraph)
  await workspace.fire()
  const { status } = await workspace.settled()
  expect(await workspace.sessions()).toHaveLength(2)
  await eventually(async () => expect(await workspace.sessions()).toEqual([]), { timeout: 20_000 })
  await eventually(async () => expect(await workspace.runs()).toEqual([]), collected)
  const kept = await workspace.firing()
  expect(kept.status).toEqual(status)
  expect(kept.status?.output?.inline).toBe('logged')
})

/** Three agents in a row, of which each hands on what it has found. */
const threeSteps = {
  nodes: [
    { id: 'by-hand', kind: 'trigger', trigger: { kind: 'manual' } },
    { id: 'triage', kind: 'step_agent', agent: 'triager', prompt: 'Triage {{event.title}}' },
    { id: 'investigate', kind: 'step_agent', agent: 'triager' },
    { id: 'report', kind: 'step_agent', agent: 'triager' },
  ],
  edges: [
    { kind: 'starts', from: 'by-hand', to: 'triage' },
    { kind: 'then', from: 'triage', to: 'investigate' },
    { kind: 'output', from: 'triage', to: 'investigate' },
    { kind: 'then', from: 'investigate', to: 'report' },
    { kind: 'output', from: 'investigate', to: 'report' },
  ],
} satisfies Partial<AutomationGraphSpec>

it.skipIf(process.env.GRAPHWRIGHT_TEST_KUBECONFIG)(
  'what stays of a firing of three steps takes at most 6 KiB of etcd',
  async () => {
    const answer = (word: string) => word.repeat(200).slice(0, 200)
    const workspace = await Workspace.create({
      triage: answer('disk '),
      investigate: answer('logs '),
      report: answer('full '),
    })
    const { client, namespace } = workspace
    await startOperator(client, namespace, { clock: compressedClock(speed, Date.now()) })
    await workspace.applyGraph(threeSteps)
    await eventually(async () => expect((await workspace.automation()).status?.active).toEqual([]))
    const before = new Set((await storedIn(namespace)).map(({ key }) => key))
    const title = 'The disk of the database is full'
    const text = 'x'.repeat(1024 - JSON.stringify({ title, text: '' }).length)
    await workspace.fire({ event: { title, text } })
    await workspace.settled()
    // Its Jobs go ten minutes after they have ended, by the clock of the cluster.
    for (const { metadata } of await workspace.jobs())
      await client.delete({ ...jobRef, name: metadata.name, namespace })
    await eventually(async () => {
      const counts = [
        await workspace.sessions(),
        await workspace.runs(),
        await workspace.jobs(),
        await workspace.pods(),
      ]
      expect(counts.map(({ length }) => length)).toEqual([0, 0, 0, 0])
    }, collected)
    const stays = (await storedIn(namespace)).filter(
      ({ key }) => !before.has(key) && !key.startsWith('/registry/events/'),
    )
    console.log(`of a firing of three steps stays: ${JSON.stringify(stays)}`)
    expect(stays).toHaveLength(1)
    expect(stays.reduce((sum, { bytes }) => sum + bytes, 0)).toBeLessThanOrEqual(6 * 1024)
  },
)

const jobRef = { apiVersion: 'batch/v1', kind: 'Job' }
