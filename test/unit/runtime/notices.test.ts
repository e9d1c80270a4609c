import { describe, expect, it, onTestFinished } from 'vitest'
import type { PauseNotice } from '../../../src/api/notices.ts'
import { NoticePost } from '../../../src/gateway/notices.ts'
import { systemClock } from '../../../src/runtime/clock.ts'
import { GatewayConnection } from '../../../src/runtime/gateway-connection.ts'
import { silentLogger } from '../../../src/runtime/log.ts'
import { GatewayNotices } from '../../../src/runtime/notices.ts'
import { eventually } from '../../kit/eventually.ts'
import { startLocalGateway } from '../../kit/local-gateway.ts'
import { type NoticeReceiver, startNoticeReceiver } from '../../kit/notice-receiver.ts'

const notice: PauseNotice = {
  id: 'uid/2026-11-30T12:00:00.000Z',
  type: 'automation.paused',
  text: 'Automation default/triage has paused itself.',
  automation: { namespace: 'default', name: 'triage', uid: 'uid' },
  reason: 'CommandFailed',
  class: 'Runtime',
  message: 'It went wrong.',
  streak: 3,
  since: '2026-11-30T12:00:00.000Z',
  firing: 'nightly-3',
}

function postTo(url: string): NoticePost {
  const post = new NoticePost(url)
  onTestFinished(() => post.close())
  return post
}

/** Manager and gateway, with a receiver behind it if there is one. */
async function setUp(receiver: NoticeReceiver | undefined, given: { token?: 'pod'; patienceMillis?: number } = {}) {
  const local = await startLocalGateway({ log: silentLogger, ...(receiver && { notices: postTo(receiver.url) }) })
  const tokenFile = given.token === 'pod' ? local.podTokenFile : local.managerTokenFile
  const gateway = new GatewayConnection({ url: local.url, caPem: local.certificates.ca.cert, tokenFile })
  const { patienceMillis } = given
  const notices = new GatewayNotices({
    gateway,
    clock: systemClock,
    log: silentLogger,
    ...(patienceMillis !== undefined && { patienceMillis }),
  })
  onTestFinished(async () => {
    notices.stop()
    await gateway.close()
  })
  return notices
}

const settled = (notices: GatewayNotices) =>
  eventually(async () => {
    const state = notices.offer(notice)
    if (state === 'Waiting') throw new Error('it is not known yet')
    return state
  })

describe('a notice', () => {
  it('[N-147] is posted once by the gateway, however often it is offered', async () => {
    const receiver = await startNoticeReceiver()
    const notices = await setUp(receiver)
    expect(notices.offer(notice)).toBe('Waiting')
    expect(notices.offer(notice)).toBe('Waiting')
    expect(await settled(notices)).toBe('Sent')
    expect(receiver.posts).toEqual([{ key: notice.id, body: notice }])
  })

  it('is tried again until it is taken; a redirect is no success', async () => {
    const receiver = await startNoticeReceiver()
    receiver.trouble.push(302)
    expect(await settled(await setUp(receiver))).toBe('Sent')
    expect(receiver.posts).toHaveLength(2)
  })

  it('is given up in the end', async () => {
    const receiver = await startNoticeReceiver()
    receiver.trouble.push(500, 500, 500)
    expect(await settled(await setUp(receiver, { patienceMillis: 10 }))).toBe('NotTaken')
    expect(receiver.posts).toHaveLength(1)
  })

  it('goes nowhere where the gateway has no address, or from anybody but the manager', async () => {
    expect(await settled(await setUp(undefined, { patienceMillis: 10 }))).toBe('NotTaken')
    const receiver = await startNoticeReceiver()
    expect(await settled(await setUp(receiver, { token: 'pod', patienceMillis: 10 }))).toBe('NotTaken')
    expect(receiver.posts).toEqual([])
  })

  it('is posted once also for a manager that died before it wrote that down', async () => {
    const receiver = await startNoticeReceiver()
    const post = postTo(receiver.url)
    await post.send(notice)
    await post.send(notice)
    expect(receiver.posts).toHaveLength(1)
  })
})

describe('the address for notices', () => {
  it.each(['', 'hooks.example.com', 'file:///etc/passwd', 'ftp://example.com'])('is not %s', (url) => {
    expect(() => new NoticePost(url)).toThrow('no http or https URL')
  })

  it('is in no message', async () => {
    const receiver = await startNoticeReceiver()
    receiver.trouble.push(500)
    const refused = await postTo(receiver.url)
      .send(notice)
      .catch((error: unknown) => error)
    expect(refused).toMatchObject({ type: 'gateway.unavailable', code: 'notice_not_taken' })
    expect((refused as Error).message).not.toContain('secret')
    const unreachable = await postTo('http://127.0.0.1:1/?token=very-secret')
      .send(notice)
      .catch((error: unknown) => error)
    expect((unreachable as Error).message).not.toContain('secret')
    expect(String((unreachable as Error).cause)).not.toContain('secret')
  })
})
