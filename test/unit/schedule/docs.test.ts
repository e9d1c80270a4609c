import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { parseCron } from '../../../src/schedule/cron.ts'
import { dstMark } from '../../../src/schedule/dst.ts'
import { dueOccurrences, type MissedOccurrences } from '../../../src/schedule/due.ts'
import { occurrencesBetween } from '../../../src/schedule/occurrence.ts'
import { localTime } from '../../../src/schedule/zone.ts'
import { scheduleOf } from './schedules.ts'

const page = readFileSync('docs/schedules.md', 'utf8')

/** The rows of every table whose header begins with these columns, without the code marks. */
function rows(header: string): string[][] {
  return page
    .split('\n\n')
    .filter((block) => block.startsWith(`| ${header} |`))
    .flatMap((table) => table.trim().split('\n').slice(2))
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim().replaceAll('`', '')),
    )
}

describe('[A-234] the examples of docs/schedules.md', () => {
  const examples = rows('expression | zone | after | due')
  it.each(examples)('%s in %s after %s', (expression = '', timezone = '', after = '', due = '') => {
    const schedule = scheduleOf(expression, timezone)
    const expected = due.split(', ')
    const found = occurrencesBetween(schedule, new Date(after), new Date('2100-01-01'), expected.length)
    const shown = found.map((at) => {
      const mark = dstMark(schedule, at)
      return localTime(timezone, at).replace(/:00(?=[+-])/, '') + (mark === undefined ? '' : ` (${mark})`)
    })
    expect(shown).toEqual(expected)
  })

  const refused = rows('refused | because')
  it.each(refused)('%s is refused', (expression) => {
    expect(parseCron(expression ?? '', 'UTC').ok).toBe(false)
  })

  const missed = rows('policy | deadlineSeconds | limit | looked at | starts | skipped')
  it.each(missed)('%s, deadline %j, limit %j, looked at %s', (policy, deadline, limit, lookedAt, starts, skipped) => {
    const policyOf: MissedOccurrences = {
      policy: policy as MissedOccurrences['policy'],
      ...(deadline ? { deadlineSeconds: Number(deadline) } : {}),
      ...(limit ? { limit: Number(limit) } : {}),
    }
    const decision = dueOccurrences({
      schedule: scheduleOf('@hourly'),
      baseline: { createdAt: new Date('2026-12-01T00:00:00Z') },
      missed: policyOf,
      jitterSeconds: 0,
      identity: 'uid',
      now: new Date(`2026-12-01T${lookedAt}:00Z`),
    })
    expect(decision.fire.map(({ occurrence }) => occurrence.toISOString().slice(11, 16)).join(', ')).toBe(starts)
    expect(decision.skipped.map(({ reason, count }) => `${count} ${reason}`).join(', ')).toBe(skipped)
  })

  it('are found', () => {
    expect([examples.length, refused.length, missed.length].every((count) => count >= 7)).toBe(true)
  })
})
