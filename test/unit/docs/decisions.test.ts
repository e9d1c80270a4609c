import { globSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { expect, it } from 'vitest'

const decisions = globSync('docs/decisions/*.md').sort()

it('decisions are numbered one by one, so that a number names one of them', () => {
  expect(decisions.length).toBeGreaterThan(0)
  expect(decisions.map((path) => Number(basename(path).slice(0, 4)))).toEqual(decisions.map((_, index) => index + 1))
})

it.each(decisions)('%s has its number in its heading, and a status', (path) => {
  const page = readFileSync(path, 'utf8')
  expect(page).toMatch(new RegExp(`^# ${Number(basename(path).slice(0, 4))}\\. `))
  expect(page).toMatch(/^\*\*Status:\*\* /m)
})
