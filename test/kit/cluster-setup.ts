import { chmodSync, cpSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { TestProject } from 'vitest/node'
import {
  ensureCluster,
  installOperator,
  kubectl,
  loadImages,
  removeCluster,
  root,
  toolFolder,
} from '../../hack/operator.ts'
import { workspaceLabels } from './cluster-context.ts'

const name = process.env.GRAPHWRIGHT_E2E_CLUSTER ?? 'e2e'

/**
 * Brings up a cluster for the whole run and installs the operator of this checkout. Where the machine cannot have one,
 * every test is reported as skipped. `GRAPHWRIGHT_KEEP_CLUSTER=1` leaves it for the next run and for a look around,
 * `GRAPHWRIGHT_E2E_CLUSTER` gives it another name than `e2e`.
 */
export function setup(project: TestProject): (() => void) | undefined {
  const unavailable = obstacle()
  if (unavailable !== undefined) {
    console.error(`e2e: every test is skipped: ${unavailable}`)
    project.provide('nodeCluster', { unavailable })
    return undefined
  }
  const keep = process.env.GRAPHWRIGHT_KEEP_CLUSTER === '1'
  if (!keep) removeCluster(name)
  const tools = mkdtempSync(join(tmpdir(), 'graphwright-e2e-'))
  const tearDown = () => {
    rmSync(tools, { recursive: true, force: true })
    if (!keep) removeCluster(name)
  }
  try {
    project.provide('nodeCluster', { name, kubeconfig: bringUp(), tools })
    fillTools(tools)
  } catch (error) {
    tearDown()
    throw error
  }
  return tearDown
}

/** Why this machine cannot run a node; undefined where it can. */
function obstacle(): string | undefined {
  if (process.platform !== 'linux') return `a node needs Linux, and this is ${process.platform}`
  if (process.getuid?.() !== 0) return 'a node needs root: run "sudo make test-e2e"'
  return undefined
}

function bringUp(): string {
  const started = performance.now()
  const kubeconfig = ensureCluster(name)
  loadImages(name)
  installOperator(name)
  const selector = Object.entries(workspaceLabels)
    .map((label) => label.join('='))
    .join(',')
  kubectl(name, ['delete', 'namespace', '--selector', selector, '--wait=false'])
  const seconds = Math.round((performance.now() - started) / 1000)
  console.error(`e2e: cluster ${name} is ready after ${seconds} s (KUBECONFIG=${kubeconfig})`)
  return kubeconfig
}

/** The programs as npm would install them, copied: another build may replace dist/ while tests run. */
function fillTools(tools: string): void {
  cpSync(join(root, 'dist'), join(tools, 'dist'), { recursive: true })
  chmodSync(join(tools, 'dist/graphwright.cjs'), 0o755)
  for (const command of ['graphwright', 'kubectl-graphwright'])
    symlinkSync('dist/graphwright.cjs', join(tools, command))
  const programs = { kubectl: toolFolder(), helm: toolFolder(), node: dirname(process.execPath) }
  for (const [program, folder] of Object.entries(programs)) symlinkSync(join(folder, program), join(tools, program))
}
