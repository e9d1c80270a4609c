import { expect, it } from 'vitest'
import type { EventRecord } from '../../../src/kube/events.ts'
import { guardClock } from '../../../src/runtime/clock-guard.ts'
import type { Logger } from '../../../src/runtime/log.ts'
import { Metrics } from '../../../src/runtime/metrics.ts'
import { FakeClock } from '../../kit/fake-clock.ts'

const lease = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', namespace: 'a', name: 'graphwright-manager' }

it('says once in every way that the clock is off, and once that it is right', async () => {
  const server = new FakeClock()
  let ahead = 5000
  const said: string[] = []
  const events: EventRecord[] = []
  const say = (level: string) => (fields: object, text: string) =>
    said.push(`${level} ${JSON.stringify(fields)} ${text}`)
  const metrics = new Metrics()
  const clock = guardClock({
    machine: {
      now: () => new Date(server.now().getTime() + ahead),
      monotonic: () => server.monotonic(),
      sleep: (ms, signal) => server.sleep(ms, signal),
      after: (ms, fn) => server.after(ms, fn),
    },
    log: { warn: say('warn'), info: say('info') } as unknown as Logger,
    metrics,
    record: (regarding, event) => void (regarding === lease && events.push(event)),
    regarding: () => lease,
  })
  const answers = () => {
    for (let n = 0; n < 30; n++) {
      server.tick(170)
      const at = server.monotonic()
      clock.hear({ date: Math.floor(server.now().getTime() / 1000) * 1000, sentAt: at, receivedAt: at })
    }
  }
  expect(await metrics.registry.metrics()).not.toMatch(/^graphwright_clock_offset_seconds /m)
  answers()
  expect(await metrics.registry.metrics()).toMatch(/^graphwright_clock_offset_seconds -(4\.9|5)/m)
  expect(await metrics.registry.metrics()).toMatch(/^graphwright_clock_corrected 1$/m)
  ahead = 0
  answers()
  expect(await metrics.registry.metrics()).toMatch(/^graphwright_clock_corrected 0$/m)
  expect(said).toHaveLength(2)
  expect(said[0]).toMatch(/^warn \{"offsetSeconds":-4\.\d\} the machine's clock is off/)
  expect(said[1]).toMatch(/^info .* the machine's clock is right again$/)
  expect(events.map(({ type, reason }) => [type, reason])).toEqual([
    ['Warning', 'ClockSkewed'],
    ['Normal', 'ClockCorrected'],
  ])
  expect(events[0]?.note).toMatch(/ is at least 4\.\d s ahead of the API server's\. Schedules go by/)
})
