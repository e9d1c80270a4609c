import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  beginningOf,
  compareText,
  nearest,
  printable,
  sentence,
  shorten,
  shortenToBytes,
} from '../../../src/lib/text.ts'

const texts = fc.string({ unit: 'grapheme', maxLength: 60 })

it('makes a sentence of what is none yet', () => {
  expect(['It broke', 'It broke.', 'Why?', 'and so on…'].map(sentence)).toEqual([
    'It broke.',
    'It broke.',
    'Why?',
    'and so on…',
  ])
})

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
        for (const short of [shorten(text, limit), beginningOf(text, limit)]) {
          expect(short.length).toBeLessThanOrEqual(limit)
          expect(short.isWellFormed()).toBe(true)
        }
        expect(text.startsWith(beginningOf(text, limit))).toBe(true)
        expect(beginningOf(text, limit).length).toBeGreaterThanOrEqual(Math.min(text.length, limit - 1))
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

it('printable leaves nothing that acts on a terminal, and everything that is read', () => {
  expect(printable('a\u001b[31mred\u009b2J\u0007\r\u202e\u0000')).toBe(
    'a\\u001b[31mred\\u009b2J\\u0007\\u000d\\u202e\\u0000',
  )
  for (const text of ['tab\tand\nline', 'Grüße 你好 👩‍🚒 ▶ └─', '']) expect(printable(text)).toBe(text)
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      expect(printable(text)).not.toMatch(/[^\P{Cc}\t\n]/u)
      expect(printable(printable(text))).toBe(printable(text))
    }),
  )
})

it('nearest finds what a mistyped word was meant to be, and nothing where it is another word', () => {
  const fields = ['prompt', 'agent', 'id', 'kind', 'environment', 'timeoutSeconds']
  expect(nearest('promt', fields)).toBe('prompt')
  expect(nearest('environmnet', fields)).toBe('environment')
  expect(nearest('timeoutsecond', fields)).toBe('timeoutSeconds')
  for (const word of ['', 'x', 'ie', 'colour', 'a'.repeat(10_000)]) expect(nearest(word, fields)).toBeUndefined()
  for (const field of fields) expect(nearest(field, fields)).toBe(field)
})
