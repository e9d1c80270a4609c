import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Command } from 'commander'
import { load } from 'js-yaml'
import { describe, expect, it } from 'vitest'
import type { Io } from '../../../src/cli/io.ts'
import { buildProgram } from '../../../src/cli/main.ts'

const pages = globSync('{*.md,docs/**/*.md,hack/**/*.md,charts/**/*.md,manifests/**/*.md}')

interface Block {
  readonly language: string
  readonly text: string
}

/** Fenced blocks of a page. */
function blocksOf(page: string): Block[] {
  return [...page.matchAll(/^```(\w*)\n(.*?)^```$/gms)].map(([, language = '', text = '']) => ({ language, text }))
}

function withoutBlocks(page: string): string {
  return page.replaceAll(/^```\w*\n.*?^```$/gms, '')
}

/** Code within sentences. */
function inlineCode(page: string): string[] {
  return [...withoutBlocks(page).matchAll(/`([^`]+)`/g)].map(([, code = '']) => code)
}

/** Commands of the shell blocks, continued lines joined and comments dropped. */
function shellLines(page: string): string[] {
  const shell = blocksOf(page).filter(({ language }) => language === 'sh' || language === 'console')
  return shell
    .flatMap(({ text }) => text.replaceAll(/\\\n\s*/g, ' ').split('\n'))
    .map((line) => line.split(' #')[0] ?? '')
}

/** The anchors that headings make, as code hosts name them. */
function anchorsOf(page: string): string[] {
  const headings = [...withoutBlocks(page).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => heading)
  return headings.map((heading) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\w\- ]/g, '')
      .replaceAll(' ', '-'),
  )
}

/** Links of a page that lead nowhere. */
function brokenLinks(path: string): string[] {
  const targets = [...withoutBlocks(readFileSync(path, 'utf8')).matchAll(/\]\(([^)]+)\)/g)].map(([, to = '']) => to)
  return targets.filter((target) => {
    if (/^[a-z]+:/.test(target)) return false
    const [file = '', anchor] = target.split('#')
    const there = file === '' ? path : join(dirname(path), file)
    if (!existsSync(there)) return true
    return anchor !== undefined && !anchorsOf(readFileSync(there, 'utf8')).includes(anchor)
  })
}

/** The real commands, which do nothing but read their options. */
function parser(): Command {
  const silent = { out: () => {}, err: () => {}, invocation: 'graphwright' } as Partial<Io> as Io
  const program = buildProgram(silent, () => {})
  for (const command of program.commands) command.action(() => {})
  return program
}

const tool = /^(?:kubectl )?graphwright (?!manager|gateway)(.+)$/

function words(line: string): string[] {
  return [...line.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map(
    ([, single, double, plain]) => single ?? double ?? plain ?? '',
  )
}

describe.each(pages)('%s', (path) => {
  const page = readFileSync(path, 'utf8')

  it('has links that lead somewhere', () => {
    expect(brokenLinks(path)).toEqual([])
  })

  it('names targets that make has', () => {
    const makefile = readFileSync('Makefile', 'utf8')
    const named = [...inlineCode(page), ...shellLines(page)].flatMap((code) =>
      [...code.matchAll(/(?:^|\s)make ([a-z][a-z0-9-]*)/g)].map(([, target = '']) => target),
    )
    expect(named.filter((target) => !new RegExp(`^${target}:`, 'm').test(makefile))).toEqual([])
  })

  it('calls graphwright as it can be called', () => {
    for (const line of shellLines(page)) {
      const [, rest] = tool.exec(line.trim()) ?? []
      if (rest !== undefined) expect(() => parser().parse(words(rest), { from: 'user' }), line).not.toThrow()
    }
  })

  it('names commands and options of graphwright that there are', () => {
    for (const code of inlineCode(page)) {
      const [name = '', ...rest] = words(tool.exec(code)?.[1] ?? '')
      if (!/^[a-z]+$/.test(name)) continue
      const command = parser().commands.find((one) => one.name() === name)
      expect(command, code).toBeDefined()
      const known = [...(command?.options ?? []), ...parser().options].flatMap(({ short, long }) => [short, long])
      expect(
        rest.filter((word) => word.startsWith('-') && !known.includes(word)),
        code,
      ).toEqual([])
    }
  })
})

describe('README.md', () => {
  it('leads to every page of docs', () => {
    const page = readFileSync('README.md', 'utf8')
    expect(globSync('docs/*.md').filter((path) => !page.includes(`](${path})`))).toEqual([])
  })

  it('shows the graph of the sample, which compiles', () => {
    const shown = blocksOf(readFileSync('README.md', 'utf8'))
      .filter(({ language }) => language === 'yaml')
      .map(({ text }) => load(text))
    // That it compiles is tested where the samples are.
    expect(shown).toEqual([load(readFileSync('manifests/samples/triage-and-escalate/graph.yaml', 'utf8'))])
  })
})

describe('ARCHITECTURE.md', () => {
  it('has a row for every room of src, and no other', () => {
    const rows = [...readFileSync('ARCHITECTURE.md', 'utf8').matchAll(/^\| `src\/(\w+)` \|/gm)].map(([, room]) => room)
    const rooms = new Set(globSync('src/*/**/*.ts').map((path) => path.split('/')[1]))
    expect(new Set(rows)).toEqual(rooms)
  })
})
