import { describe, expect, it } from 'vitest'
import { alternate, summarize } from '../../bench/statistics.ts'

describe('summarize', () => {
  it.each([
    { name: 'one sample', samples: [7], p50: 7, p99: 7 },
    { name: 'the lower of two in the middle', samples: [4, 1, 3, 2], p50: 2, p99: 4 },
    { name: 'a hundred', samples: Array.from({ length: 100 }, (_, index) => 100 - index), p50: 50, p99: 99 },
    { name: 'numbers, not texts', samples: [9, 10, 100], p50: 10, p99: 100 },
  ])('$name', ({ samples, p50, p99 }) => {
    expect(summarize(samples)).toEqual({ n: samples.length, p50, p99 })
  })

  it('refuses to make a number of nothing', () => {
    expect(() => summarize([])).toThrow('nothing was measured')
  })
})

describe('alternate', () => {
  it('takes turns, changes who goes first, and drops the first round', async () => {
    const order: string[] = []
    const sample = (name: string) => async (round: number) => {
      order.push(`${name}${round}`)
      return round
    }
    expect(await alternate(2, sample('a'), sample('b'))).toEqual({ ours: [1, 2], peer: [1, 2] })
    expect(order).toEqual(['a0', 'b0', 'b1', 'a1', 'a2', 'b2'])
  })
})
