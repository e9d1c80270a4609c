import { cpus, loadavg, release, totalmem } from 'node:os'
import { parseArgs } from 'node:util'
import { buildBundles, ensureCluster, installOperator, loadImages, removeCluster } from '../../hack/operator.ts'
import { measureDue } from './due.ts'
import { type Figure, isMet, renderTable } from './figure.ts'
import { measureFootprint } from './footprint.ts'
import { measureJobStart } from './job-start.ts'
import { measurePlanning } from './planning.ts'
import { measurePodLess } from './pod-less.ts'
import { measureScale } from './scale.ts'
import { measureTriage } from './triage.ts'
import { Workbench } from './workbench.ts'

/**
 * `make bench`: measures the operator as it is installed, on a cluster of its own, and prints one table. Exit code 1
 * where a target is not met.
 */

const cluster = 'bench'

/** Sections with a control plane of their own, in which no pod runs. First, so that the node does not run beside them. */
const planeSections: Readonly<Record<string, () => Promise<Figure[]>>> = {
  due: () => measureDue(1000, 3),
  scale: () => measureScale(10_000, 100),
}

/** Sections on the cluster. */
const nodeSections: Readonly<Record<string, (bench: Workbench) => Promise<Figure[]>>> = {
  planning: (bench) => measurePlanning(bench, 50),
  'pod-less': (bench) => measurePodLess(bench, 30),
  'job-start': (bench) => measureJobStart(bench, 60),
  triage: (bench) => measureTriage(bench, 8),
  footprint: (bench) => measureFootprint(bench, 20, cluster),
}

const sectionNames = [...Object.keys(planeSections), ...Object.keys(nodeSections)]

const usage = `usage: node test/bench/run.ts [--keep] [SECTION…]
sections: ${sectionNames.join(', ')}; default: all of them
--keep  leave the cluster up, for a quick next run`

async function main(): Promise<void> {
  const options = { keep: { type: 'boolean' }, help: { type: 'boolean' } } as const
  const { values, positionals } = parseArgs({ allowPositionals: true, options })
  if (values.help === true) return console.log(usage)
  const names = positionals.length === 0 ? sectionNames : positionals
  const unknown = names.filter((name) => !sectionNames.includes(name))
  if (unknown.length > 0) throw new Error(`there is no section ${unknown.join(', ')}\n${usage}`)
  const onNode = names.filter((name) => nodeSections[name] !== undefined)
  if (onNode.length > 0 && (process.platform !== 'linux' || process.getuid?.() !== 0)) {
    throw new Error('the benchmarks run pods on a node of their own: run them on Linux, as root (sudo make bench)')
  }
  const before = loadavg()
  const figures = [
    ...(await measureOnPlanes(names.filter((name) => planeSections[name] !== undefined))),
    ...(await measureOnNode(onNode, values.keep === true)),
  ]
  console.log(`\n${machine(before)}\n\n${renderTable(figures)}`)
  if (figures.some((figure) => isMet(figure) === false)) process.exitCode = 1
}

async function measureOnPlanes(names: readonly string[]): Promise<Figure[]> {
  if (names.length === 0) return []
  buildBundles()
  const figures: Figure[] = []
  for (const name of names) figures.push(...(await measureSection(name, planeSections[name])))
  return figures
}

async function measureOnNode(names: readonly string[], keep: boolean): Promise<Figure[]> {
  if (names.length === 0) return []
  progress('a cluster with the operator')
  const kubeconfig = ensureCluster(cluster)
  loadImages(cluster)
  installOperator(cluster)
  const bench = await Workbench.open(kubeconfig)
  const figures: Figure[] = []
  for (const name of names) figures.push(...(await measureSection(name, () => nodeSections[name]?.(bench))))
  await bench.close()
  if (!keep) removeCluster(cluster)
  return figures
}

/** A section that fails does not take the figures of the others with it. */
async function measureSection(
  name: string,
  section: (() => Promise<Figure[]> | undefined) | undefined,
): Promise<Figure[]> {
  progress(name)
  try {
    return (await section?.()) ?? []
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
