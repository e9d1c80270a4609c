import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'

const page = readFileSync('docs/semantics.md', 'utf8')

interface Promised {
  readonly text: string
  /** The tests that hold it: title and file. */
  readonly tests: readonly { readonly title: string; readonly file: string }[]
}

/** The rows of the tables of promises. */
function promises(): Promised[] {
  const rows = page.split('\n').filter((line) => line.startsWith('| ') && !line.startsWith('| What is promised'))
  return rows.map((row) => {
    const [, text = '', held = ''] = row.split('|').map((cell) => cell.trim())
    const links = [...held.matchAll(/\[([^\]]+)\]\(\.\.\/(test\/[^)]+)\)/g)]
    return { text, tests: links.map(([, title = '', file = '']) => ({ title, file })) }
  })
}

/** Titles of tests and of groups of them; parts that are filled in are left as they are written. */
function titlesOf(file: string): string[] {
  const source = readFileSync(join(file), 'utf8')
  return [...source.matchAll(/(?:^|[\s(])(['`])((?:\\.|(?!\1)[^\\\n])*)\1/g)].map(([, , title = '']) => title)
}

describe('docs/semantics.md', () => {
  it.each(promises().map((one) => [one.text, one] as const))('%s', (_, { tests }) => {
    expect(tests).not.toEqual([])
    for (const { title, file } of tests) {
      expect(file).toMatch(/\.test\.ts$/)
      expect(existsSync(file), file).toBe(true)
      expect(
        titlesOf(file).some((one) => one.includes(title)),
        `${file} has a test "${title}"`,
      ).toBe(true)
    }
  })

  it('promises a lot, and says what it does not', () => {
    expect(promises().length).toBeGreaterThan(35)
    expect(page).toContain('\n## What is not promised\n')
  })
})
