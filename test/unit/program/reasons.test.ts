import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { camelCase, snakeCase, stepReasons } from '../../../src/program/reasons.ts'

describe('reasons', () => {
  it.each([
    ['OOMKilled', 'oom_killed'],
    ['ImageUnavailable', 'image_unavailable'],
    ['DeadlineExceeded', 'deadline_exceeded'],
    ['CommandFailed', 'command_failed'],
    ['NetworkNotIsolated', 'network_not_isolated'],
    ['OutputInvalidJson', 'output_invalid_json'],
  ])('%s in a column is %s in an outcome, and back', (column, code) => {
    expect(snakeCase(column)).toBe(code)
    expect(camelCase(code)).toBe(column)
  })

  it('every code has its row in the documentation, with the reason it becomes', () => {
    const page = readFileSync(new URL('../../../docs/reasons.md', import.meta.url), 'utf8')
    // A firing that was closed after 25 hours says Interrupted, whatever its steps were closed with (N-175).
    const reasonOf = (code: string) => (code === 'automation_run_abandoned' ? 'Interrupted' : camelCase(code))
    const rows = stepReasons.map((code) => `| \`${code}\` | \`${reasonOf(code)}\` |`)
    expect(rows.filter((row) => !page.includes(row))).toEqual([])
  })
})
