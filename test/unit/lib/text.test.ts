import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compareText, shorten, shortenToBytes } from '../../../src/lib/text.ts'

const texts = fc.string({ unit: 'grapheme', maxLength: 60 })

describe('shortening', () => {
  it('keeps what is short enough, and says where something was cut', () => {
    expect(shorten('abcd', 4)).toBe('abcd')
    expect(shorten('abcde', 4)).toBe('abc…')
    expect(shortenToBytes('äöü', 6)).toBe('äöü')
    expect(shortenToBytes('äöüß', 6)).toBe('ä…')
  })

  it('never goes beyond its limit, nor cuts a character in half', () => {
    fc.assert(
      fc.property(texts, fc.integer({ min: 4, max: 40 }), (text, limit) => {
        expect(shorten(text, limit).length).toBeLessThanOrEqual(limit)
        const kept = shortenToBytes(text, limit)
        expect(Buffer.byteLength(kept)).toBeLessThanOrEqual(limit)
        expect(kept === text || text.startsWith(kept.slice(0, -1))).toBe(true)
      }),
    )
  })
})

it('orders texts as their code units are ordered', () => {
  fc.assert(
    fc.property(fc.array(texts), (list) => {
      expect(list.toSorted(compareText)).toEqual(list.toSorted())
    }),
  )
})
