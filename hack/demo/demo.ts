import { spawnSync } from 'node:child_process'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import {
  ensureCluster,
  installOperator,
  kubectl,
  loadImages,
  operatorNamespace,
  removeCluster,
  root,
} from '../operator.ts'
import { checkEvent } from './event.ts'
import { demoPrograms, linkPrograms } from './tools.ts'

/**
 * `make demo`: the main job of the project, from nothing to the answer of an agent, on a cluster of its own.
 * `make demo-down` ends it.
 */

const cluster = 'demo'
const namespace = 'demo'
const graph = 'triage-and-escalate'
const samples = join(root, 'manifests/samples', graph)
const cli = join(root, 'dist/graphwright.cjs')
const bin = join(root, '.cache/demo/bin')
const steps = 6

function title(step: number, text: string): void {
  console.log(`\n==> ${step}/${steps}  ${text}`)
}

/** Runs the command line tool as a person would, output and all; what is shown may be pasted at the root of the checkout. */
function graphwright(kubeconfig: string, args: readonly string[]): void {
  const line = ['-n', namespace, ...args.map((arg) => arg.replace(`${root}/`, ''))]
  console.log(`\n$ graphwright ${line.join(' ')}`)
  const env = { ...process.env, KUBECONFIG: kubeconfig }
  const { status } = spawnSync(process.execPath, [cli, ...line], { cwd: root, stdio: 'inherit', env })
  if (status !== 0) throw new Error(`graphwright ${args[0]} ended with exit code ${status}`)
}

function show(args: readonly string[]): void {
  console.log(`\n$ kubectl ${args.join(' ')}\n${kubectl(cluster, args)}`.trimEnd())
}

function up(event: string | undefined): void {
  if (event !== undefined) checkEvent(event)
  if (process.platform !== 'linux' || process.getuid?.() !== 0) {
    throw new Error('the demo runs pods on a node of its own: run it on Linux, as root (sudo make demo)')
  }
  const started = performance.now()
  title(1, 'a real Kubernetes, in a network namespace of its own')
  const kubeconfig = ensureCluster(cluster)
  console.log(kubeconfig)
  title(2, 'the images of the operator and of the sample agents')
  loadImages(cluster)
  console.log('localhost/graphwright:dev and localhost/graphwright-samples:dev are on the node')
  title(3, 'the operator, from its Helm chart')
  installOperator(cluster)
  show(['get', 'deployment', '-n', operatorNamespace])
  title(4, 'a graph, its plan, and the approval of exactly that plan')
  applySample(kubeconfig)
  title(5, 'fired by hand, run in pods')
  const events = event === undefined ? sampleEvents() : [resolve(event)]
  for (const file of events) fire(kubeconfig, file)
  title(6, 'what is left to look at')
  show(['get', 'agraph,agplan,auto,firing,session,run', '-n', namespace])
  goodbye(kubeconfig, Math.round((performance.now() - started) / 1000))
}

function sampleEvents(): string[] {
  return ['incident', 'quiet'].map((name) => join(samples, 'events', `${name}.json`))
}

function applySample(kubeconfig: string): void {
  const labels = { 'pod-security.kubernetes.io/enforce': 'restricted' }
  const workspace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace, labels } }
  kubectl(cluster, ['apply', '--server-side', '-f', '-'], JSON.stringify(workspace))
  graphwright(kubeconfig, ['plan', '-f', join(samples, 'graph.yaml')])
  show(['apply', '--server-side', '-n', namespace, '-f', `manifests/samples/${graph}`])
  kubectl(cluster, ['wait', `agraph/${graph}`, '-n', namespace, '--for=condition=Planned', '--timeout=30s'])
  show(['get', 'agplan', '-n', namespace])
  graphwright(kubeconfig, ['approve', graph])
  kubectl(cluster, ['wait', `agraph/${graph}`, '-n', namespace, '--for=condition=Applied', '--timeout=30s'])
  kubectl(cluster, ['wait', `auto/${graph}`, '-n', namespace, '--for=condition=Ready', '--timeout=30s'])
}

function fire(kubeconfig: string, file: string): void {
  graphwright(kubeconfig, ['run', graph, '--event', `@${file}`, '--follow', '--exit-status'])
  const newest = ['get', 'firing', '-n', namespace, '--sort-by=.metadata.creationTimestamp', '-o', 'name']
  const name = kubectl(cluster, newest).trim().split('\n').at(-1)?.split('/').at(-1)
  if (name === undefined) throw new Error('the firing that was just made is gone')
  graphwright(kubeconfig, ['trace', name])
}

function goodbye(kubeconfig: string, seconds: number): void {
  linkPrograms(bin, demoPrograms())
  console.log(`
Done in ${seconds} s. To look around:

  export KUBECONFIG=${kubeconfig} PATH=${bin}:$PATH
  kubectl get agraph,agplan,auto,firing,session,run,job,pod -n ${namespace}
  kubectl describe firing -n ${namespace}
  kubectl explain automationgraph.spec.nodes
  kubectl graphwright -n ${namespace} run ${graph} --event '{"items": []}' --follow

With an event of your own:  make demo EVENT=my-event.json
To end it:                  make demo-down`)
}

function main(): void {
  const { values, positionals } = parseArgs({ allowPositionals: true, options: { event: { type: 'string' } } })
  if (positionals[0] === 'down') removeCluster(cluster)
  else up(values.event)
}

try {
  main()
} catch (error) {
  console.error(`\n${error instanceof Error ? error.message : error}`)
  process.exitCode = 1
}
