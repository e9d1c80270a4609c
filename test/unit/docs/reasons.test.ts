import { globSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { automationStates } from '../../../src/api/automation.ts'
import { firingPhases } from '../../../src/api/automation-firing.ts'
import { planPhases } from '../../../src/api/automation-graph-plan.ts'
import { outputErrors } from '../../../src/api/run-api.ts'
import { workPhases } from '../../../src/api/session.ts'
import { cliCodes } from '../../../src/cli/io.ts'
import { errorCodes, errorTypes } from '../../../src/gateway/errors.ts'
import { camelCase, stepReasons } from '../../../src/program/reasons.ts'

const page = readFileSync('docs/reasons.md', 'utf8')

/** The part of the page under a heading. */
function section(heading: string): string {
  const [, part] = page.split(`## ${heading}\n`)
  if (part === undefined) throw new Error(`docs/reasons.md has no section ${heading}`)
  return part.split('\n## ')[0] ?? ''
}

/** Words in backticks in the first cells of the rows of the section's table. */
function rowNames(heading: string, cells: number): string[] {
  const rows = section(heading)
    .split('\n')
    .filter((line) => line.startsWith('|'))
  return rows.flatMap((row) => row.split('|', 1 + cells).flatMap(quoted))
}

function quoted(text: string): string[] {
  return [...text.matchAll(/`([A-Za-z0-9_.]+)`/g)].map(([, name = '']) => name)
}

const sources = [
  ...globSync('src/reconcilers/**/*.ts'),
  'src/program/formats.ts',
  'src/runtime/outcome.ts',
  'src/runtime/refusals.ts',
  'src/runtime/executor.ts',
  'src/runtime/clock-guard.ts',
]

/** Every capitalised word in quotes where reasons come from. */
const words = new Set(
  sources.flatMap((path) =>
    [...readFileSync(path, 'utf8').matchAll(/'([A-Z][A-Za-z]+)'/g)].map(([, word = '']) => word),
  ),
)

/** Words of that kind that are no reasons of ours: Kubernetes' own, fields, actions of events, causes of a Run. */
const others = `
  All Forbid Latest Replace
  ALL Always ClusterFirst Egress Exists FallbackToLogsOnError HOME IfNotPresent Ingress Job Never NoExecute None
  RuntimeDefault TCP True False Unknown Normal Warning
  Complete ContainerCannotRun CrashLoopBackOff CreateContainerConfigError CreateContainerError DeletionByPodGC
  DeletionByTaintManager DisruptionTarget ErrImageNeverPull ErrImagePull Evicted EvictionByEvictionAPI FailureTarget ImageInspectError
  ImagePullBackOff InvalidImageName NamespaceTerminating PodScheduled PostStartHookError PreCreateHookError
  PreemptionByScheduler RegistryUnavailable RunContainerError SignatureValidationFailed StartError TerminationByKubelet
  Conflict Reconciling Allow Automatic Correct Unchanged Update Done
  Admit Advance Apply Compile Create End Observe Pause Plan Restart Resume Schedule Settle Start Wait
  Connection Precondition Request Runtime Transient
  Application Deadline Infrastructure Refused Resource
`
  .trim()
  .split(/\s+/)

describe('docs/reasons.md', () => {
  it('names every reason that the code can give', () => {
    const named = new Set(quoted(page))
    expect([...words].filter((word) => !others.includes(word) && !named.has(word))).toEqual([])
  })

  it('the words that are no reasons are words of the code', () => {
    expect(others.filter((word) => !words.has(word))).toEqual([])
  })

  it('names no reason that the code does not give', () => {
    const codes = [...stepReasons, ...outputErrors, 'session_failed']
    const known = new Set<string>([...words, ...codes, ...codes.map(camelCase)])
    const named = [
      ...['A firing that has not started', 'A Session or a Run', 'Any object', 'While it works', 'Events'].flatMap(
        (heading) => rowNames(heading, 1),
      ),
      ...['Any step', 'Graphs and plans', 'Agents, Environments and Automations'].flatMap((heading) =>
        rowNames(heading, 2),
      ),
    ]
    expect(named.length).toBeGreaterThan(80)
    expect(named.filter((name) => !known.has(name))).toEqual([])
  })

  it.each([
    ['phase', 'Phases', 2, [...planPhases, ...automationStates, ...firingPhases, ...workPhases]],
    ['code of the command line', 'The command line', 1, cliCodes],
    ['type of the gateway', 'The gateway', 1, errorTypes],
  ] as const)('has a row for every %s, and no other', (_title, heading, cells, expected) => {
    expect(new Set(rowNames(heading, cells))).toEqual(new Set(expected))
  })

  it('has every code of the gateway beside its type', () => {
    const types = new Set<string>(errorTypes)
    const codes = rowNames('The gateway', 3).filter((name) => !types.has(name))
    expect(new Set(codes)).toEqual(new Set(errorCodes))
  })
})

describe('docs/graph-errors.md', () => {
  it('has a row for every blocker of a plan, and no other', () => {
    const [, part = ''] = readFileSync('docs/graph-errors.md', 'utf8').split('## What blocks a plan\n')
    const rows = (part.split('\n## ')[0] ?? '').split('\n').filter((line) => line.startsWith('| `'))
    const codes = readFileSync('src/plan/blockers.ts', 'utf8').matchAll(/code: '(\w+)'/g)
    expect(new Set(rows.flatMap((row) => quoted(row.split('|')[1] ?? '')))).toEqual(
      new Set([...codes].map(([, code]) => code)),
    )
  })
})
