import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { stripVTControlCharacters } from 'node:util'

/**
 * Runs everything there is to check and ends with one line for all of it: `N passed, N failed`, with `, N skipped`
 * where something could not run here. A check that is not a suite (lint, types) counts as one test. Goes on after a
 * failure, so that one run tells everything.
 */

interface Counts {
  readonly passed: number
  readonly failed: number
  readonly skipped: number
  /** What failed, a few lines each: it stands at the end again, because of a long log often only the end is kept. */
  readonly failures: readonly string[]
}

/** The part of vitest's JSON report that is read here. */
interface Report {
  readonly numPassedTests: number
  readonly numFailedTests: number
  readonly numPendingTests: number
  readonly numTodoTests: number
  readonly testResults: readonly {
    readonly name: string
    readonly status: string
    readonly message: string
    readonly assertionResults: readonly {
      readonly status: string
      readonly fullName: string
      readonly failureMessages: readonly string[]
    }[]
  }[]
}

/**
 * How much of a failure's message is told again at the end: what fits with some others into the last 2,000 characters, which
 * may be all that is kept of a run.
 */
const messageLines = 3
const lineLength = 200

const checks: readonly (readonly [string, ...string[]])[] = [
  ['biome', 'check', '--error-on-warnings', '.'],
  ['tsc', '--noEmit'],
  ['knip'],
]
const suites = ['unit', 'integration', 'e2e']

function run(command: string, args: readonly string[]): number {
  return spawnSync(command, args, { stdio: 'inherit', env: process.env }).status ?? 1
}

function runCheck([command, ...args]: readonly [string, ...string[]]): Counts {
  console.log(`\n==> ${command}`)
  const ok = run(command, args) === 0
  return { passed: ok ? 1 : 0, failed: ok ? 0 : 1, skipped: 0, failures: ok ? [] : [command] }
}

function runSuite(suite: string, directory: string): Counts {
  console.log(`\n==> ${suite} tests`)
  const file = join(directory, `${suite}.json`)
  const status = run('vitest', [
    'run',
    '--project',
    suite,
    '--reporter=default',
    '--reporter=json',
    `--outputFile.json=${file}`,
  ])
  const counts = readCounts(file)
  // A crash outside of any test (a failed set-up, an unhandled error) must not pass for a green suite.
  const crashed = status !== 0 && counts.failed === 0
  return crashed ? { ...counts, failed: 1, failures: [`${suite}: failed outside of any test (see above)`] } : counts
}

function readCounts(file: string): Counts {
  let report: Report
  try {
    report = JSON.parse(readFileSync(file, 'utf8')) as Report
  } catch {
    return { passed: 0, failed: 1, skipped: 0, failures: [`${file} was not written`] }
  }
  const outside = report.testResults.filter(failedOutside)
  return {
    passed: report.numPassedTests,
    failed: report.numFailedTests + outside.length,
    skipped: report.numPendingTests + report.numTodoTests,
    failures: report.testResults.flatMap(failuresOf),
  }
}

/** True for a file that failed and none of its tests: while it was loaded, or in what it sets up or clears away. */
function failedOutside({ status, assertionResults }: Report['testResults'][number]): boolean {
  return status === 'failed' && !assertionResults.some((test) => test.status === 'failed')
}

function failuresOf(result: Report['testResults'][number]): string[] {
  const file = relative(process.cwd(), result.name)
  if (failedOutside(result))
    return [`${file}: failed outside of any test\n${indented(result.message || '(see above)')}`]
  return result.assertionResults
    .filter((test) => test.status === 'failed')
    .map((test) => `${file}: ${test.fullName}\n${indented(test.failureMessages.join('\n'))}`)
}

/** The beginning of a message, and the place in the tests that it comes from. */
function indented(message: string): string {
  const lines = stripVTControlCharacters(message)
    .split('\n')
    .filter((line) => line.trim() !== '')
  const said = lines.filter((line) => !isFrame(line)).slice(0, messageLines)
  const place = lines
    .find((line) => isFrame(line) && line.includes(`${process.cwd()}/test/`))
    ?.replace(`${process.cwd()}/`, '')
  const told = [...said, ...(place === undefined ? [] : [place])]
  return told.map((line) => `    ${line.trim().slice(0, lineLength)}`).join('\n')
}

function isFrame(line: string): boolean {
  return /^\s+at /.test(line)
}

function sum(a: Counts, b: Counts): Counts {
  return {
    passed: a.passed + b.passed,
    failed: a.failed + b.failed,
    skipped: a.skipped + b.skipped,
    failures: [...a.failures, ...b.failures],
  }
}

const directory = mkdtempSync(join(tmpdir(), 'graphwright-test-'))
const total = [...checks.map(runCheck), ...suites.map((suite) => runSuite(suite, directory))].reduce(sum)
rmSync(directory, { recursive: true })

if (total.failures.length > 0) console.log(`\n==> what failed\n${total.failures.join('\n')}`)
const skipped = total.skipped > 0 ? `, ${total.skipped} skipped` : ''
console.log(`\n${total.passed} passed, ${total.failed} failed${skipped}`)
process.exit(total.failed === 0 ? 0 : 1)
