import { globSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { describe, expect, it } from 'vitest'

/** Which rooms of src may import from which (ARCHITECTURE.md, "The rooms"). A room may always import itself. */
const core = ['graph', 'plan', 'program', 'schedule']
const processParts = [
  'runtime/clock.ts',
  'runtime/log.ts',
  'runtime/metrics.ts',
  'runtime/health.ts',
  'runtime/shutdown.ts',
]

/** The built-in kinds and what an error says: data and pure functions that reconcilers decide with. */
const kubeVocabulary = ['kube/core-types.ts', 'kube/error.ts']

const allowed: Readonly<Record<string, readonly string[]>> = {
  lib: [],
  api: ['lib'],
  graph: ['lib', 'api', 'schedule'],
  plan: ['lib', 'api', 'graph'],
  program: ['lib', 'api'],
  schedule: ['lib', 'api'],
  kube: ['lib'],
  runtime: ['lib', 'api', 'kube'],
  reconcilers: ['lib', 'api', 'runtime', ...kubeVocabulary, ...core],
  controllers: ['lib', 'api', 'kube', 'runtime', 'reconcilers'],
  gateway: ['lib', 'api', 'kube', ...core, ...processParts],
  cli: ['lib', 'api', 'kube', ...core, ...processParts],
  runner: ['lib', 'api'],
  bin: ['lib', 'api', 'kube', 'runtime', 'reconcilers', 'controllers', 'gateway', 'cli', 'runner', ...core],
}

interface Import {
  readonly file: string
  readonly target: string
}

function importsOf(file: string): Import[] {
  const source = readFileSync(join('src', file), 'utf8')
  const specifiers = source.matchAll(/(?:from|import)\s*\(?\s*'(\.[^']+)'/g)
  return [...specifiers]
    .map((match) => ({ file, target: normalize(join(dirname(file), match[1] ?? '')) }))
    .filter(({ target }) => !target.startsWith('..'))
}

const room = (path: string) => path.split('/')[0] ?? ''
const files = globSync('**/*.ts', { cwd: 'src' })
const imports = files.flatMap(importsOf)
const targetsOf = new Map(files.map((file) => [file, importsOf(file).map(({ target }) => target)]))

/** A way along imports, of types as well, from a file back to itself; undefined where there is none. */
function cycleThrough(start: string): string[] | undefined {
  const cameFrom = new Map<string, string>()
  const reached = new Set([start])
  for (const file of reached) {
    for (const target of targetsOf.get(file) ?? []) {
      if (target === start) return [...wayTo(file, cameFrom), start]
      if (!reached.has(target)) cameFrom.set(target, file)
      reached.add(target)
    }
  }
  return undefined
}

function wayTo(file: string, cameFrom: ReadonlyMap<string, string>): string[] {
  const way: string[] = []
  for (let at: string | undefined = file; at !== undefined; at = cameFrom.get(at)) way.unshift(at)
  return way
}

describe('architecture', () => {
  it('every room of src has a rule', () => {
    const rooms = new Set(globSync('*/**/*.ts', { cwd: 'src' }).map(room))
    expect([...rooms].filter((name) => allowed[name] === undefined)).toEqual([])
  })

  it('imports go only where the map of the house allows', () => {
    const violations = imports.filter(({ file, target }) => {
      const rules = allowed[room(file)] ?? []
      return room(file) !== room(target) && !rules.includes(room(target)) && !rules.includes(target)
    })
    expect(violations).toEqual([])
  })

  it('no file imports itself by way of others', () => {
    expect(files.flatMap((file) => cycleThrough(file)?.join(' -> ') ?? [])).toEqual([])
  })

  it('the pure core imports neither Node nor the network', () => {
    const impure = core
      .flatMap((name) => globSync(`${name}/**/*.ts`, { cwd: 'src' }))
      .filter((file) => {
        const source = readFileSync(join('src', file), 'utf8')
        return /from 'node:(fs|net|http|https|child_process|worker_threads|timers)|from '(undici|pino|hono)|Date\.now\(\)|new Date\(\)|Math\.random/.test(
          source,
        )
      })
    expect(impure).toEqual([])
  })
})
