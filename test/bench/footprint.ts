import { spawnSync } from 'node:child_process'
import { readFileSync, statSync } from 'node:fs'
import { operatorNamespace } from '../../hack/operator.ts'
import { podType } from '../../src/kube/core-types.ts'
import type { Figure } from './figure.ts'
import { alternate } from './statistics.ts'
import type { Workbench } from './workbench.ts'

const dist = new URL('../../dist/', import.meta.url).pathname
const mebibyte = 2 ** 20
const kibibyte = 2 ** 10

/** Memory of the running processes after everything that was measured before, sizes of the bundles, times to start. */
export async function measureFootprint(bench: Workbench, rounds: number, cluster: string): Promise<Figure[]> {
  const controllerManager = residentOf(cluster, 'kube-controller-manager')
  const memory = ['manager', 'gateway'].map(async (component): Promise<Figure> => {
    const resident = await metric(bench, component, 'process_resident_memory_bytes')
    return {
      title: `memory of the ${component} (RSS)`,
      unit: 'MiB',
      ours: [resident / mebibyte],
      peer: { title: 'kube-controller-manager', samples: [controllerManager / mebibyte] },
    }
  })
  return [
    ...(await Promise.all(memory)),
    ...['graphwright.cjs', 'runner.cjs', 'schema-worker.cjs'].map(sizeOf),
    await startTime('graphwright version', ['graphwright.cjs', 'version'], rounds),
    await startTime('runner, until it finds nothing to do', ['runner.cjs'], rounds),
  ]
}

/** A metric of the operator's process, through the API server. */
async function metric(bench: Workbench, component: string, name: string): Promise<number> {
  const labelSelector = `app.kubernetes.io/component=${component}`
  const { items } = await bench.client.list(podType, { namespace: operatorNamespace, labelSelector })
  const pod = items.find(({ metadata }) => metadata.deletionTimestamp === undefined)
  if (pod === undefined) throw new Error(`no pod of the ${component} is there`)
  const path = `/api/v1/namespaces/${operatorNamespace}/pods/${pod.metadata.name}:8080/proxy/metrics`
  const text = await bench.client.transport.text({ path })
  const value = new RegExp(`^${name} (\\S+)`, 'm').exec(text)?.[1]
  if (value === undefined) throw new Error(`the ${component} has no metric ${name}`)
  return Number(value)
}

/** Resident bytes of a server of the local cluster. */
function residentOf(cluster: string, server: string): number {
  const [pid] = readFileSync(`/var/lib/graphwright-cluster/${cluster}/run/${server}.pid`, 'utf8').split(/\s/)
  const kib = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
  if (kib === undefined) throw new Error(`${server} does not run`)
  return Number(kib) * kibibyte
}

function sizeOf(bundle: string): Figure {
  return { title: `size of ${bundle}`, unit: 'KiB', ours: [statSync(dist + bundle).size / kibibyte] }
}

/** Peer: Node itself, started to do nothing. */
async function startTime(title: string, [program, ...args]: readonly [string, ...string[]], rounds: number) {
  const ours = async () => timeOf([dist + program, ...args])
  const { ours: samples, peer } = await alternate(rounds, ours, async () => timeOf(['--eval', '0']))
  return {
    title: `start: ${title}`,
    unit: 'ms',
    ours: samples,
    peer: { title: 'node --eval 0', samples: peer },
  } as const
}

function timeOf(args: readonly string[]): number {
  const start = performance.now()
  const { error } = spawnSync(process.execPath, args, { stdio: 'ignore' })
  if (error !== undefined) throw error
  return performance.now() - start
}
