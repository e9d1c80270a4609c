import { cpus, loadavg, release, totalmem } from 'node:os'
import { parseArgs } from 'node:util'
import { ensureCluster, installOperator, loadImages, removeCluster } from '../../hack/operator.ts'
import { type Figure, isMet, renderTable } from './figure.ts'
import { measureFootprint } from './footprint.ts'
import { measureJobStart } from './job-start.ts'
import { measurePlanning } from './planning.ts'
import { measurePodLess } from './pod-less.ts'
import { measureTriage } from './triage.ts'
import { Workbench } from './workbench.ts'

/**
 * `make bench`: measures the operator as it is installed, on a cluster of its own, and prints one table. Exit code 1
 * where a target is not met.
 */

const cluster = 'bench'

const sections: Readonly<Record<string, (bench: Workbench) => Promise<Figure[]>>> = {
  planning: (bench) => measurePlanning(bench, 50),
  'pod-less': (bench) => measurePodLess(bench, 30),
  'job-start': (bench) => measureJobStart(bench, 60),
  triage: (bench) => measureTriage(bench, 8),
  footprint: (bench) => measureFootprint(bench, 20, cluster),
}

const usage = `usage: node test/bench/run.ts [--keep] [SECTION…]
sections: ${Object.keys(sections).join(', ')}; default: all of them
--keep  leave the cluster up, for a quick next run`

async function main(): Promise<void> {
  const options = { keep: { type: 'boolean' }, help: { type: 'boolean' } } as const
  const { values, positionals } = parseArgs({ allowPositionals: true, options })
  if (values.help === true) return console.log(usage)
  const names = positionals.length === 0 ? Object.keys(sections) : positionals
  const unknown = names.filter((name) => sections[name] === undefined)
  if (unknown.length > 0) throw new Error(`there is no section ${unknown.join(', ')}\n${usage}`)
  if (process.platform !== 'linux' || process.getuid?.() !== 0) {
    throw new Error('the benchmarks run pods on a node of their own: run them on Linux, as root (sudo make bench)')
  }
  const before = loadavg()
  const figures = await measure(names, values.keep === true)
  console.log(`\n${machine(before)}\n\n${renderTable(figures)}`)
  if (figures.some((figure) => isMet(figure) === false)) process.exitCode = 1
}

async function measure(names: readonly string[], keep: boolean): Promise<Figure[]> {
  progress('a cluster with the operator')
  const kubeconfig = ensureCluster(cluster)
  loadImages(cluster)
  installOperator(cluster)
  const bench = await Workbench.open(kubeconfig)
  const figures: Figure[] = []
  for (const name of names) {
    progress(name)
    figures.push(...(await measureSection(name, bench)))
  }
  await bench.close()
  if (!keep) removeCluster(cluster)
  return figures
}

/** A section that fails does not take the figures of the others with it. */
async function measureSection(name: string, bench: Workbench): Promise<Figure[]> {
  try {
    return (await sections[name]?.(bench)) ?? []
  } catch (error) {
    report(error)
    return []
  }
}

function report(error: unknown): void {
  console.error(`\n${error instanceof Error ? error.message : error}`)
  process.exitCode = 1
}

function progress(what: string): void {
  console.error(`==> ${what}`)
}

/** The figures say little without it: load is that of one minute, before and after. */
function machine([before = 0]: readonly number[]): string {
  const [cpu] = cpus()
  const gibibytes = Math.round(totalmem() / 2 ** 30)
  const load = `load ${before.toFixed(1)} before, ${(loadavg()[0] ?? 0).toFixed(1)} after`
  const line = `${cpus().length} × ${cpu?.model}, ${gibibytes} GiB, Linux ${release()}, Node ${process.version}, ${load}`
  if (before <= cpus().length) return line
  return `${line}\nThe machine was busy before this began: times are longer than they are by themselves; look at the ratios.`
}

await main().catch(report)
