import fc from 'fast-check'
import { expect, it } from 'vitest'
import { linearPattern, patternLimit, patternSize } from '../../../src/lib/linear-pattern.ts'

it.each([
  ['', 0],
  ['abc', 3],
  ['a{5}', 5],
  ['a{2,5}b', 6],
  ['a{2,}', 2],
  ['(ab){3}', 9],
  ['((a{10}){10}){10}', 1110],
  ['[a-z{9}]{4}', 4],
  ['\\{{3}', 3],
  ['\\p{L}{2}', 42],
  ['[\\pL\\p{N}]', 41],
])('the size of %s is %i', (pattern, size) => {
  expect(patternSize(pattern)).toBe(size)
})

it('what people write is far below the limit', () => {
  for (const pattern of [
    '^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$',
    '^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$',
    '^sha256:[0-9a-f]{64}$',
    '^.{1,1000}$',
    '^\\p{Lu}\\p{L}{1,60}$',
  ]) {
    expect(linearPattern(pattern), pattern).toBeDefined()
  }
})

it('preparing takes little time and always comes to an end, whatever the pattern', () => {
  const piece = fc.constantFrom(
    ...'ab()[]{}|*+?\\.^$,:09',
    '{1,1000}',
    '{40}',
    '\\p{L}',
    '\\Q',
    '\\E',
    '(?i)',
    '[^]',
    '(?:',
  )
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 60 }), (pieces) => {
      const pattern = pieces.join('')
      const started = performance.now()
      const prepared = linearPattern(pattern)
      expect(performance.now() - started).toBeLessThan(2000)
      if (prepared !== undefined) expect(patternSize(pattern)).toBeLessThanOrEqual(patternLimit)
    }),
  )
  for (const evil of ['[', '(', '{', '\\', '[^', '(a{1,1000})', '\\p{', '[[:']) {
    const started = performance.now()
    linearPattern(evil.repeat(30_000))
    linearPattern(evil.repeat(150))
    expect(performance.now() - started, evil).toBeLessThan(2000)
  }
})
