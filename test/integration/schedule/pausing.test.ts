import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it, onTestFinished } from 'vitest'
import { NoticePost } from '../../../src/gateway/notices.ts'
import type { Clock } from '../../../src/runtime/clock.ts'
import { GatewayConnection } from '../../../src/runtime/gateway-connection.ts'
import { silentLogger } from '../../../src/runtime/log.ts'
import { GatewayNotices } from '../../../src/runtime/notices.ts'
import { compressedClock } from '../../kit/compressed-clock.ts'
import { lintStatus } from '../../kit/lint-status.ts'
import { startLocalGateway } from '../../kit/local-gateway.ts'
import { startNoticeReceiver } from '../../kit/notice-receiver.ts'
import { Failing } from './failing.ts'

/** Five minutes pass in a second. */
const speed = 300

/** By way of a gateway, as the manager sends them. */
async function noticesTo(url: string, clock: Clock): Promise<GatewayNotices> {
  const post = new NoticePost(url)
  const local = await startLocalGateway({ notices: post })
  const { certificates, managerTokenFile: tokenFile } = local
  const gateway = new GatewayConnection({ url: local.url, caPem: certificates.ca.cert, tokenFile })
  const notices = new GatewayNotices({ gateway, clock, log: silentLogger })
  onTestFinished(async () => {
    notices.stop()
    await Promise.all([gateway.close(), post.close()])
  })
  return notices
}

describe('an Automation that fails again and again', () => {
  it('[N-134] [N-147] pauses after the third failure with its cause, and is told once', async () => {
    const failing = await Failing.create('CommandFailed')
    const clock = compressedClock(speed, Date.now())
    const receiver = await startNoticeReceiver()
    await failing.start(clock, await noticesTo(receiver.url, clock))
    await failing.automate()
    const paused = await failing.until(({ status }) => status?.pause?.notice === 'Sent')
    const firings = await failing.scheduled()
    expect(firings).toHaveLength(3)
    expect(paused.status).toMatchObject({
      reason: 'CommandFailed',
      next: 'paused',
      pause: {
        reason: 'CommandFailed',
        class: 'Runtime',
        streak: 3,
        message: 'Step agent failed: The play says CommandFailed',
      },
      conditions: [{ type: 'Ready', status: 'True' }],
    })
    expect(firings.map(({ metadata }) => metadata.name)).toContain(paused.status?.pause?.firing)
    expect(lintStatus(paused)).toEqual([])
    await sleep(3000) // fifteen minutes by the clock of the manager
    expect(await failing.scheduled()).toHaveLength(3)
    expect((await failing.automation()).metadata.resourceVersion).toBe(paused.metadata.resourceVersion)
    expect(await failing.events('PausedItself')).toHaveLength(1)
    expect(receiver.posts.map(({ body }) => body)).toMatchObject([
      { type: 'automation.paused', automation: { name: 'triage' }, reason: 'CommandFailed', streak: 3 },
    ])
    expect(await failing.metrics.registry.metrics()).toMatch(
      /graphwright_automation_paused_total\{.*command_failed.*\} 1\n/,
    )
  })

  it('[N-159] [N-160] runs by hand all the same: a failure leaves it paused, a success ends the pause', async () => {
    const failing = await Failing.create('CommandFailed')
    await failing.start(compressedClock(speed, Date.now()))
    await failing.automate()
    await failing.until(({ status }) => status?.state === 'Paused')
    expect((await failing.fire('by-hand-1')).status).toMatchObject({ phase: 'Failed', reason: 'CommandFailed' })
    expect((await failing.automation()).status).toMatchObject({ state: 'Paused', pause: { streak: 3 } })
    failing.verdict = undefined
    expect((await failing.fire('by-hand-2')).status).toMatchObject({ phase: 'Succeeded' })
    const resumed = await failing.until(({ status }) => status?.state === 'Active')
    expect(resumed.status).not.toHaveProperty('pause')
    expect(resumed.status).not.toHaveProperty('reason')
    await failing.until(({ status }) => status?.last?.result === 'Succeeded' && status.last.firing.includes('-2026'))
    expect(await failing.events('Resumed')).toHaveLength(1)
  })

  it('[N-154] [N-155] [N-156] [N-157] is probed where the cause may pass, through a restart', async () => {
    const start = Date.now()
    const failing = await Failing.create('ImageUnavailable')
    const stop = await failing.start(compressedClock(speed, start))
    await failing.automate()
    const paused = await failing.until(({ status }) => status?.state === 'Paused')
    expect(paused.status).toMatchObject({ reason: 'ImageUnavailable', pause: { class: 'Transient', streak: 3 } })
    expect((await failing.until(({ status }) => status?.next?.endsWith('(probe)') === true)).status?.state).toBe(
      'Paused',
    )
    const probed = await failing.until(({ status }) => status?.pause?.streak === 4)
    expect(probed.status?.pause?.since).toBe(paused.status?.pause?.since)
    expect(await failing.scheduled()).toHaveLength(4)
    await stop()
    failing.verdict = undefined
    await failing.start(compressedClock(speed, start))
    const resumed = await failing.until(({ status }) => status?.state === 'Active')
    const [third, , fifth] = (await failing.scheduled()).slice(2)
    expect(Date.parse(fifth?.spec.occurrence ?? '')).toBeGreaterThanOrEqual(
      Date.parse(probed.status?.pause?.nextProbe ?? ''),
    )
    expect(fifth?.status?.phase).toBe('Succeeded')
    expect(third?.status?.phase).toBe('Failed')
    const skipped = resumed.status?.schedule?.skipped?.filter(({ reason }) => reason === 'Paused') ?? []
    expect(skipped.length).toBeGreaterThanOrEqual(2)
    expect(await failing.events('PausedItself')).toHaveLength(1)
    expect(await failing.events('Resumed')).toHaveLength(1)
    expect(await failing.metrics.registry.metrics()).toMatch(
      /graphwright_automation_resumed_total\{.*via="probe"\} 1\n/,
    )
  })

  it('[N-149] [A-150] is resumed by the annotation, but not while it is not ready', async () => {
    const failing = await Failing.create('CommandFailed')
    await failing.start(compressedClock(speed, Date.now()))
    await failing.automate()
    await failing.until(({ status }) => status?.state === 'Paused')
    await failing.deleteAccount()
    await failing.until(({ status }) => status?.readiness?.some(({ check }) => check === 'serviceAccount') === true)
    await failing.resume('first')
    const refused = await failing.until(({ status }) => status?.failures?.resumeSeen === 'first')
    expect(refused.status).toMatchObject({ state: 'Paused', pause: { streak: 3 } })
    await failing.createAccount()
    await failing.until(({ status }) => status?.readiness?.length === 0)
    expect((await failing.automation()).status?.state).toBe('Paused')
    failing.verdict = undefined
    await failing.resume('second')
    const resumed = await failing.until(({ status }) => status?.state === 'Active')
    expect(resumed.status?.failures).not.toHaveProperty('row')
    await failing.until(({ status }) => status?.last?.result === 'Succeeded')
    expect(await failing.events('ResumeRefused')).toHaveLength(1)
  })

  it('is resumed by a change of what failed', async () => {
    const failing = await Failing.create('CommandFailed')
    await failing.start(compressedClock(speed, Date.now()))
    await failing.automate()
    await failing.until(({ status }) => status?.state === 'Paused')
    failing.verdict = undefined
    const { apiVersion, kind } = await failing.automation()
    const ref = { apiVersion, kind, name: 'triage', namespace: failing.namespace }
    await failing.client.mergePatch(ref, { spec: { target: { agent: { prompt: 'Triage this better.' } } } })
    await failing.until(({ status }) => status?.state === 'Active')
    await failing.until(({ status }) => status?.last?.result === 'Succeeded')
    expect(await failing.metrics.registry.metrics()).toMatch(
      /graphwright_automation_resumed_total\{.*via="change"\} 1\n/,
    )
  })
})
