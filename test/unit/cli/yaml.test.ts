import { describe, expect, it } from 'vitest'
import { CliError } from '../../../src/cli/io.ts'
import { readYaml } from '../../../src/cli/yaml.ts'

function traps(text: string): string[] {
  return readYaml(text, 'f.yaml').flatMap((document) =>
    document.traps.map(({ line, text: written, as }) => `${line} ${written} ${as}`),
  )
}

describe('readYaml', () => {
  it('reads several documents, YAML or JSON', () => {
    expect(readYaml('a: 1\n---\n{"b": [true, "x"]}\n', 'f.yaml').map(({ value }) => value)).toEqual([
      { a: 1 },
      { b: [true, 'x'] },
    ])
  })

  it.each([
    ['a: yes', '1 yes true'],
    ['a: [x, Off]', '1 Off false'],
    ['x: 1\nn: 2', '2 n false'],
    ['a: 017', '1 017 an octal number'],
    ['a: 0o17', '1 0o17 an octal number'],
    ['a: 0b11', '1 0b11 a binary number'],
    ['a: 1_000', '1 1_000 a number'],
    ['<<: {a: 1}', '1 << a merge of another mapping'],
  ])('names what kubectl reads otherwise: %s', (text, expected) => {
    expect(traps(text)).toEqual([expected])
  })

  it.each([
    'a: "yes"',
    "a: 'no'",
    'a: true',
    'a: 0',
    'a: -0',
    'a: 10',
    'a: 1.5',
    'a: |\n  yes\n',
    'a: yesterday',
    'a: !!str yes',
    '{"a": "n"}',
    'a: 2026-12-01T17:00:00Z',
  ])('leaves alone what is unambiguous: %s', (text) => {
    expect(traps(text)).toEqual([])
  })

  it('knows to which document a trap belongs', () => {
    expect(readYaml('a: yes\n---\nb: 1\n---\nc: no\n', 'f.yaml').map((document) => document.traps.length)).toEqual([
      1, 0, 1,
    ])
  })

  it('counts lines, and stops where there are more traps than anybody reads', () => {
    const text = `a:\n${'  - yes\n'.repeat(60_000)}`
    const started = performance.now()
    expect(traps(text).length).toBeLessThan(1000)
    expect(readYaml(text, 'f.yaml')[0]?.traps[99]).toEqual({ line: 101, text: 'yes', as: 'true' })
    expect(performance.now() - started).toBeLessThan(5000)
  })

  it.each(['a: [', 'a: 1\na: 2', '\t- x: ]'])('refuses in one line what is no YAML: %j', (text) => {
    let error: unknown
    try {
      readYaml(text, 'f.yaml')
    } catch (thrown) {
      error = thrown
    }
    expect(error).toBeInstanceOf(CliError)
    expect(error).toMatchObject({
      exitCode: 2,
      message: expect.stringMatching(/^f\.yaml is no valid YAML or JSON: .+$/),
    })
  })

  it('keeps dates as texts', () => {
    expect(readYaml('at: 2026-12-01T17:00:00Z', 'f')[0]?.value).toEqual({ at: '2026-12-01T17:00:00Z' })
  })
})
