import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/**
 * Runs everything there is to check and ends with one line for all of it: `N passed, N failed`, with `, N skipped`
 * where something could not run here. A check that is not a suite (lint, types) counts as one test. Goes on after a
 * failure, so that one run tells everything.
 */

interface Counts {
  readonly passed: number
  readonly failed: number
  readonly skipped: number
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
    readonly assertionResults: readonly unknown[]
  }[]
}

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
  return { passed: ok ? 1 : 0, failed: ok ? 0 : 1, skipped: 0 }
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
  return status !== 0 && counts.failed === 0 ? { ...counts, failed: 1 } : counts
}

function readCounts(file: string): Counts {
  let report: Report
  try {
    report = JSON.parse(readFileSync(file, 'utf8')) as Report
  } catch {
    return { passed: 0, failed: 1, skipped: 0 }
  }
  const unloaded = report.testResults.filter(
    (result) => result.status === 'failed' && result.assertionResults.length === 0,
  )
  return {
    passed: report.numPassedTests,
    failed: report.numFailedTests + unloaded.length,
    skipped: report.numPendingTests + report.numTodoTests,
  }
}

function sum(a: Counts, b: Counts): Counts {
  return { passed: a.passed + b.passed, failed: a.failed + b.failed, skipped: a.skipped + b.skipped }
}

const directory = mkdtempSync(join(tmpdir(), 'graphwright-test-'))
const total = [...checks.map(runCheck), ...suites.map((suite) => runSuite(suite, directory))].reduce(sum)
rmSync(directory, { recursive: true })

const skipped = total.skipped > 0 ? `, ${total.skipped} skipped` : ''
console.log(`\n${total.passed} passed, ${total.failed} failed${skipped}`)
process.exit(total.failed === 0 ? 0 : 1)
