import { setTimeout as sleep } from 'node:timers/promises'
import { operatorNamespace } from '../../hack/operator.ts'
import { automationFiring } from '../../src/api/automation-firing.ts'
import { kinds } from '../../src/api/kinds.ts'
import { Etcd } from '../kit/etcd-client.ts'
import { eventually } from '../kit/eventually.ts'
import type { Figure } from './figure.ts'
import { type BenchManager, BenchPlane, type Memory } from './plane.ts'
import { type DueOptions, makeDue, makeHerd, touchEnvironment } from './scale/herd.ts'
import { Witness } from './witness.ts'

const namespace = 'herd'
const restarts = 3
const idleMillis = 60_000
const patienceMillis = 300_000
/** Not less: every look costs the manager a few milliseconds. */
const pollMillis = 250
/** Controllers that look at each graph, or at what was made of it. */
const controllers = ['automation', 'automationhistory', 'automationgraph', 'automationgraphplan']
/** Leases, the manager's among them, with the event that says who leads, and those of the servers of the cluster. */
const leases = ['/registry/leases/', '/registry/masterleases/', `/registry/events/${operatorNamespace}/`]

/**
 * So many Automations at rest, each with its graph, its plan and its program: how long a manager takes after a restart
 * until it has looked at all of them, its memory, what it writes, and how late it is when some are due in one instant.
 */
export async function measureScale(count: number, due: number): Promise<Figure[]> {
  const plane = await BenchPlane.start()
  const etcd = new Etcd(plane.plane.dir)
  try {
    await makeHerd(plane, etcd, { namespace, count })
    const before = await stateOf(etcd)
    const starts: Start[] = []
    const peaks: number[] = []
    for (let start = 0; start < restarts; start++) {
      const started = await plane.startManager()
      starts.push(await lookedAtAll(started, count))
      peaks.push(started.memory().peak)
      await started.stop()
    }
    const manager = await plane.startManager({ throughProxy: true })
    await lookedAtAll(manager, count)
    await sleep(idleMillis)
    const settled = manager.memory()
    await listAgain(plane, manager)
    await sleep(idleMillis)
    await lookAgain(plane, manager, count)
    const written = await writtenSince(etcd, before)
    const after = manager.memory()
    const lateness = await measureDue(plane, { namespace, count, due })
    await manager.stop()
    return figures({ count, due, starts, peaks: [...peaks, after.peak], memory: [settled, after], written, lateness })
  } finally {
    await plane.stop()
  }
}

/** Milliseconds from the start of the process. */
interface Start {
  /** Until `/readyz` said so: everything is listed, and the controllers run. */
  readonly ready: number
  /** Until every controller had looked at everything. */
  readonly looked: number
}

async function lookedAtAll(manager: BenchManager, count: number): Promise<Start> {
  const patience = { timeout: patienceMillis, interval: pollMillis }
  await eventually(() => manager.isReady(), patience)
  const ready = performance.now() - manager.startedAt
  await eventually(() => hasLookedAtAll(manager, count), patience)
  const looked = performance.now() - manager.startedAt
  const { resident, peak } = manager.memory()
  const millis = [ready, looked].map(Math.round)
  tell(
    `ready after ${millis[0]} ms, all looked at after ${millis[1]} ms, ${Math.round(resident)} MiB, at most ${Math.round(peak)} MiB`,
  )
  return { ready, looked }
}

async function hasLookedAtAll(manager: BenchManager, passes: number): Promise<boolean> {
  const metrics = await manager.metrics()
  if (metrics === undefined) return false
  return !metrics.isBusy && controllers.every((name) => metrics.passes(name) >= passes)
}

/** Has the manager list everything again, because it cannot reach the API server for a moment. */
async function listAgain({ proxy }: BenchPlane, manager: BenchManager): Promise<void> {
  proxy.refuse()
  await eventually(
    async () => {
      const told = await manager.metrics()
      return told !== undefined && told.sum('graphwright_watch_restarts_total', 'refused') > kinds.length
    },
    { timeout: 8000, interval: pollMillis },
  )
  proxy.heal()
}

/** Has the manager look at everything again, because of an Environment that all of it refers to. */
async function lookAgain(plane: BenchPlane, manager: BenchManager, count: number): Promise<void> {
  await touchEnvironment(plane, namespace)
  const woken = async () => {
    const metrics = await manager.metrics()
    if (metrics === undefined || metrics.isBusy) return false
    return ['automation', 'automationgraph'].every((name) => metrics.passes(name) >= 2 * count)
  }
  await eventually(woken, { timeout: patienceMillis, interval: pollMillis })
}

/** The newest revision, and every key there is. */
async function stateOf(etcd: Etcd): Promise<{ readonly revision: bigint; readonly keys: ReadonlySet<string> }> {
  const revision = await etcd.revision()
  const keys = await etcd.range('/registry/', { keysOnly: true })
  return { revision, keys: new Set(keys.map(({ key }) => key)) }
}

/** Keys that were written or deleted since, leases apart. The resourceVersion of an object is the revision of its key. */
async function writtenSince(etcd: Etcd, before: Awaited<ReturnType<typeof stateOf>>): Promise<string[]> {
  const now = await etcd.range('/registry/', { keysOnly: true })
  const there = new Set(now.map(({ key }) => key))
  const changed = now.filter(({ revision }) => revision > before.revision).map(({ key }) => key)
  const gone = [...before.keys].filter((key) => !there.has(key))
  // Touched by this benchmark itself.
  const own = `/registry/graphwright.dev/environments/${namespace}/`
  return [...changed, ...gone].filter((key) => !leases.some((prefix) => key.startsWith(prefix)) && !key.startsWith(own))
}

/** Milliseconds from one instant to the arrival of each firing that was due in it, by a watch of this process. */
async function measureDue(plane: BenchPlane, options: DueOptions): Promise<number[]> {
  const end = new AbortController()
  const instant = await makeDue(plane, options)
  const witness = await Witness.start(plane.client, automationFiring, namespace, end.signal)
  const seen = await eventually(
    () => {
      const firings = witness.firstSightings().filter(({ object }) => object.spec.occurrence === instant.toISOString())
      return firings.length === options.due && firings
    },
    { timeout: patienceMillis, interval: pollMillis },
  )
  end.abort()
  return seen.map(({ at }) => performance.timeOrigin + at - instant.getTime())
}

interface Measured {
  readonly count: number
  readonly due: number
  readonly starts: readonly Start[]
  readonly peaks: readonly number[]
  readonly memory: readonly Memory[]
  readonly written: readonly string[]
  readonly lateness: readonly number[]
}

function figures({ count, due, starts, peaks, memory, written, lateness }: Measured): Figure[] {
  const herd = `${count} Automations at rest`
  if (written.length > 0) tell(`written although nothing was due:\n${written.slice(0, 20).join('\n')}`)
  return [
    {
      title: `${herd}: manager started → ready`,
      unit: 'ms',
      ours: starts.map(({ ready }) => ready),
      target: allBelow(10_000, 'ms'),
    },
    {
      title: `${herd}: manager started → all looked at`,
      unit: 'ms',
      ours: starts.map(({ looked }) => looked),
      target: allBelow(10_000, 'ms'),
    },
    {
      title: `${herd}: memory of the manager (RSS) a minute later`,
      unit: 'MiB',
      ours: memory.map(({ resident }) => resident),
      target: allBelow(400, 'MiB'),
    },
    {
      title: `${herd}: the most memory that each start ever had`,
      unit: 'MiB',
      ours: peaks,
      target: allBelow(400, 'MiB'),
    },
    {
      title: `${herd}: objects written in four starts and a resync`,
      unit: '',
      ours: [written.length],
      target: { text: 'none', isMet: ({ p50 }) => p50 === 0 },
    },
    {
      title: `${due} of them due at once → firing seen`,
      unit: 'ms',
      ours: lateness,
      target: { text: 'p99 < 1000 ms', isMet: ({ p99 }) => p99 < 1000 },
    },
  ]
}

function allBelow(limit: number, unit: string): NonNullable<Figure['target']> {
  return { text: `each < ${limit} ${unit}`, isMet: ({ p99 }) => p99 < limit }
}

function tell(what: string): void {
  console.error(`    ${what}`)
}
