import { describe, expect, it } from 'vitest'
import { camelCase, snakeCase } from '../../../src/program/reasons.ts'

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
})
