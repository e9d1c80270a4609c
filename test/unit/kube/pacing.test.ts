import { describe, expect, test } from 'vitest'
import { defaultTiming, needsList, Pacing, type WatchEnd } from '../../../src/kube/pacing.ts'

const end = (reason: WatchEnd['reason'], more: Partial<WatchEnd> = {}): WatchEnd => ({
  reason,
  message: '',
  openMillis: 0,
  received: false,
  ...more,
})

const pacing = () => new Pacing(defaultTiming, () => 1)

describe('the wait after an end', () => {
  test('doubles from 0.8 s to 30 s while failures follow each other', () => {
    const paced = pacing()
    const waits = Array.from({ length: 8 }, () => paced.after(end('refused')))
    expect(waits).toEqual([800, 1_600, 3_200, 6_400, 12_800, 25_600, 30_000, 30_000])
  })

  test('is anywhere between its half and the whole, so that many watches spread', () => {
    expect(new Pacing(defaultTiming, () => 0).after(end('refused'))).toBe(400)
  })

  test('begins anew after two healthy minutes', () => {
    const paced = pacing()
    for (let i = 0; i < 5; i++) paced.after(end('refused'))
    expect(paced.after(end('error', { openMillis: 119_000 }))).toBe(25_600)
    expect(paced.after(end('error', { openMillis: 120_000 }))).toBe(800)
  })

  test.each(['closed', 'reset', 'idle'] as const)('is nothing after a watch that had been open: %s', (reason) => {
    expect(pacing().after(end(reason, { openMillis: 1_000 }))).toBe(0)
  })

  test('is nothing after the first 410, and grows when 410 follows 410', () => {
    const paced = pacing()
    expect([paced.after(end('expired')), paced.after(end('expired')), paced.after(end('expired'))]).toEqual([
      0, 1_600, 3_200,
    ])
  })

  test('is nothing after the 410 of a server that has just come back', () => {
    const paced = pacing()
    const ends = ['refused', 'refused', 'expired', 'refused', 'expired', 'expired'] as const
    expect(ends.map((reason) => paced.after(end(reason)))).toEqual([800, 1_600, 0, 3_200, 0, 6_400])
  })

  test('is nothing when a burst cut the watch short, a few times in a row', () => {
    const paced = pacing()
    const waits = Array.from({ length: 6 }, () => paced.after(end('reset', { openMillis: 10, received: true })))
    expect(waits).toEqual([0, 0, 0, 0, 0, 800])
  })

  test('is as long as the server asks for', () => {
    expect(pacing().after(end('overloaded', { retryAfterSeconds: 17 }))).toBe(17_000)
  })

  test('is long where only a person can help', () => {
    expect(pacing().after(end('forbidden'))).toBe(30_000)
  })
})

test('a watch is resumed only where its version is known to be good', () => {
  const reasons = [
    'closed',
    'reset',
    'overloaded',
    'idle',
    'refused',
    'expired',
    'future',
    'unauthorized',
    'forbidden',
    'error',
  ] as const
  expect(reasons.filter((reason) => !needsList(reason))).toEqual(['closed', 'reset', 'overloaded'])
})
