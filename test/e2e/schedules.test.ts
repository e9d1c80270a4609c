import { beforeEach, describe, expect, test } from 'vitest'
import type { AutomationFiring } from '../../src/api/automation-firing.ts'
import { isSettledFiring } from '../../src/reconcilers/automation-firing/phase.ts'
import { shareCluster } from '../kit/cluster-turn.ts'
import { eventually } from '../kit/eventually.ts'
import { requireNode } from '../kit/node-cluster.ts'
import { agentStep, graph, scheduled, shellAgent, surroundings } from './manifests.ts'
import { parseTables } from './tables.ts'
import { Workspace } from './workspace.ts'

/** Stories that go by the real clock, minute by minute. */

const minuteMillis = 60_000
const everyMinute = scheduled('* * * * *')

shareCluster()
beforeEach(requireNode)

describe.concurrent('an Automation with a schedule of every minute', () => {
  test('fires by the clock, once for each minute, and pods run; paused, it stops', {
    timeout: 300_000,
  }, async () => {
    const workspace = await Workspace.create('clock')
    const agent = shellAgent('work', 'date -u +%H:%M > /graphwright/output/result')
    await workspace.apply(...surroundings(), agent, graph('flow', [agentStep('work')], [], everyMinute))
    await workspace.applied('flow')
    const [first, second] = (await settledFirings(workspace, 2)) as [AutomationFiring, AutomationFiring]
    expect((await workspace.graphwright(['pause', 'flow'])).code).toBe(0)

    const created = Date.parse((await workspace.automation('flow')).metadata.creationTimestamp ?? '')
    expect(occurrence(first)).toBe(Math.floor(created / minuteMillis + 1) * minuteMillis)
    expect(occurrence(second) - occurrence(first)).toBe(minuteMillis)
    for (const { spec, metadata, status } of [first, second]) {
      expect([spec.trigger, status?.phase]).toEqual(['schedule', 'Succeeded'])
      const minute = (spec.occurrence ?? '').slice(11, 16)
      expect(status?.output?.inline).toBe(`${minute}\n`)
      expect(metadata.name).toContain((spec.occurrence ?? '').replace(/[-:]|\.000/g, '').toLowerCase())
      // A timestamp of the API server is cut to the second.
      expect(Date.parse(metadata.creationTimestamp ?? '') - Date.parse(spec.occurrence ?? '')).toBeLessThan(10_000)
    }
    const [row] = parseTables(await workspace.kubectl('get', 'auto', 'flow')).get('') ?? []
    expect(row).toMatchObject({ STATE: 'Paused', REASON: 'ByHand', NEXT: 'paused', RESULT: 'Succeeded' })
    expect(await workspace.lint()).toEqual([])
  })

  test('[N-140] [N-143] pauses itself after three failures, with their cause, until its owner resumes it', {
    timeout: 420_000,
  }, async () => {
    const workspace = await Workspace.create('pausing')
    // Whether the key is good is not known to Kubernetes: mending it is no change of what failed.
    const script = `[ "$KEY" = good ] || { echo "401: the key is not valid"; exit 41; }; echo paid`
    const withKey = (value: string) => surroundings({ env: [{ name: 'KEY', value }] })
    await workspace.apply(...withKey('old'), shellAgent('work', script))
    await workspace.apply(graph('flow', [agentStep('work')], [], everyMinute))
    await workspace.applied('flow')
    const isPaused = async () => expect((await workspace.automation('flow')).status?.state).toBe('Paused')
    await eventually(isPaused, { timeout: 4 * minuteMillis, interval: 500 })

    const failed = await workspace.firings()
    expect(failed.map(({ status }) => status?.reason)).toEqual(Array(3).fill('CommandFailed'))
    const { status } = await workspace.automation('flow')
    expect(status?.pause).toMatchObject({ reason: 'CommandFailed', class: 'Runtime', streak: 3 })
    expect(status?.pause?.message).toMatch(/The command ended with exit code 41\. Its log says more/)
    const [row] = parseTables(await workspace.kubectl('get', 'auto', 'flow')).get('') ?? []
    expect(row).toMatchObject({ STATE: 'Paused', REASON: 'CommandFailed', NEXT: 'paused', RESULT: 'Failed' })
    await eventually(async () => {
      const described = await workspace.kubectl('describe', 'auto', 'flow')
      expect(described).toMatch(/Warning +PausedItself .*exit code 41/)
    })

    await workspace.apply(...withKey('good'))
    const resumed = await workspace.graphwright(['resume', 'flow'])
    expect([resumed.code, resumed.stdout]).toEqual([0, expect.stringContaining('Automation flow is resumed')])
    const [, , , fourth] = await settledFirings(workspace, 4)
    expect(fourth?.status).toMatchObject({ phase: 'Succeeded', result: 'completed' })
    expect(fourth?.spec.trigger).toBe('schedule')
    const after = await workspace.automation('flow')
    expect([after.status?.state, after.status?.pause]).toEqual(['Active', undefined])
    await eventually(async () => {
      const described = await workspace.kubectl('describe', 'auto', 'flow')
      expect(described).toMatch(/Normal +Resumed .*Its owner resumed it/)
    })
    expect(await workspace.lint()).toEqual([])
  })
})

function occurrence({ spec }: AutomationFiring): number {
  return Date.parse(spec.occurrence ?? '')
}

/** The first firings of a workspace, once so many have settled. */
function settledFirings(workspace: Workspace, count: number): Promise<AutomationFiring[]> {
  return eventually(
    async () => {
      const settled = (await workspace.firings()).filter(isSettledFiring)
      expect(settled.length).toBeGreaterThanOrEqual(count)
      return settled.slice(0, count)
    },
    { timeout: count * minuteMillis + 60_000, interval: 500 },
  )
}
