import { describe, expect, it } from 'vitest'
import { type Run, runStatus } from '../../../src/api/run.ts'
import { isSettled, outcomeOf, resultOf, sameResult } from '../../../src/gateway/result.ts'
import { digestBytes } from '../../../src/lib/digest.ts'

const now = new Date('2026-11-30T12:00:00.500Z')

function runWith(status: Run['status']): Run {
  return { apiVersion: 'graphwright.dev/v1alpha1', kind: 'Run', metadata: { name: 'triage' }, spec: {}, status } as Run
}

describe('the result of a run', () => {
  it('keeps 8 KiB of UTF-8 in the Run, and more by digest', () => {
    const small = 'ä'.repeat(4096)
    expect(outcomeOf({ output: small })).toMatchObject({ output: { inline: small, size: 8192 }, stored: undefined })
    const large = `${small}x`
    const outcome = outcomeOf({ output: large })
    expect(outcome.output).toEqual({ digest: digestBytes(large), size: 8193 })
    expect(outcome.stored?.toString()).toBe(large)
  })

  it('is what the schema of a Run accepts, errors among them', () => {
    const run = runWith({ incarnation: { number: 3, job: 'triage-3', podUID: 'p' } })
    for (const report of [{ output: '' }, { output: 'x'.repeat(9000) }, { error: 'output_not_utf8' } as const]) {
      const result = resultOf(outcomeOf(report), run, now)
      expect(runStatus.parse({ result }).result).toMatchObject({ incarnation: 3, reportedAt: '2026-11-30T12:00:00Z' })
    }
  })

  it('is another one when the text or the error differs', () => {
    const run = runWith({})
    const empty = resultOf(outcomeOf({ output: '' }), run, now)
    expect(sameResult(empty, outcomeOf({ output: '' }))).toBe(true)
    expect(sameResult(empty, outcomeOf({ output: 'x' }))).toBe(false)
    expect(sameResult(empty, outcomeOf({ error: 'output_unreadable' }))).toBe(false)
  })

  it('is not taken from a run that has settled', () => {
    expect(isSettled(runWith(undefined))).toBe(false)
    expect(isSettled(runWith({ phase: 'Running' }))).toBe(false)
    expect(isSettled(runWith({ phase: 'Waiting' }))).toBe(false)
    for (const phase of ['Succeeded', 'Failed', 'Cancelled', 'Indeterminate'] as const) {
      expect(isSettled(runWith({ phase }))).toBe(true)
    }
    expect(isSettled(runWith({ settledAt: '2026-11-30T12:00:00Z' }))).toBe(true)
  })
})
