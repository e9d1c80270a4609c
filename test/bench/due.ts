import { eventually } from '../kit/eventually.ts'
import {
  cronJobType,
  makeAutomations,
  makeCronJobs,
  makeNamespace,
  type Place,
  removeFirings,
  removeJobs,
} from './due/objects.ts'
import { type Sight, Sights } from './due/sights.ts'
import type { Figure } from './figure.ts'
import { type BenchManager, BenchPlane } from './plane.ts'
import { type ProcessorSeconds, processorSeconds } from './processor.ts'
import { summarize } from './statistics.ts'

/** As fast as Kubernetes' own controllers go: at its defaults the CronJob controller makes nine Jobs a second. */
const fastControllers = ['--kube-api-qps=5000', '--kube-api-burst=10000', '--concurrent-cron-job-syncs=50']

const minuteMillis = 60_000
/** So long before a minute begins nothing of the one before may be under way any more. */
const calmMillis = 4000
/** How long after the minute everything has to be there, before the minute of the other side begins. */
const creationMillis = 50_000
/** How long after the minute everything has to be over. On a busy machine the other side then misses a turn. */
const settlementMillis = 300_000
const pollMillis = 100

/** Both have every second minute, so that neither works while the other is measured. */
const ours = { cron: '1-59/2 * * * *', isTurn: (minute: number) => minute % 2 === 1 }
const peer = { cron: '*/2 * * * *', isTurn: (minute: number) => minute % 2 === 0 }

/** What is known of a minute in which everything of one side was due. */
interface Minute {
  /** Milliseconds from the minute to the arrival of each object. */
  readonly lateness: number[]
  /** Milliseconds of processor time for each object, of who makes it and of the servers, until the last was there. */
  readonly processor: Processor
}

interface OurMinute extends Minute {
  /** Firings that were created after the first watermark was written. */
  readonly createdLate: number
  /** Requests of the manager for each firing, from its creation to its end. */
  readonly requests: number
}

/**
 * So many Automations due in the same instant, and so many CronJobs, in alternating minutes: from the instant until a
 * watch of an independent process on the same clock has seen what is made. Each pair is a minute of both; the first pair
 * warms up and does not count.
 */
export async function measureDue(count: number, pairs: number): Promise<Figure[]> {
  const plane = await BenchPlane.start({ types: [cronJobType], controllerManagerFlags: fastControllers })
  const place = { client: plane.client, namespace: 'due' }
  try {
    const manager = await plane.startManager()
    await eventually(() => leads(manager), { timeout: 60_000, interval: 200 })
    await makeNamespace(place)
    await makeAutomations(place, count, ours.cron)
    await makeCronJobs(place, count, peer.cron)
    const sights = await Sights.start(plane.plane.kubeconfig, place.namespace)
    const stage: Stage = { plane, manager, place, sights, count }
    const minutes: { ours: OurMinute[]; peer: Minute[] } = { ours: [], peer: [] }
    await comeToRest(place)
    for (let pair = 0; pair <= pairs; pair++) {
      minutes.ours.push(await measureOurs(stage))
      minutes.peer.push(await measurePeer(stage))
    }
    await sights.stop()
    return figures(count, minutes.ours.slice(1), minutes.peer.slice(1))
  } finally {
    await plane.stop()
  }
}

interface Stage {
  readonly plane: BenchPlane
  readonly manager: BenchManager
  readonly place: Place
  readonly sights: Sights
  readonly count: number
}

async function leads(manager: BenchManager): Promise<boolean> {
  return ((await manager.metrics())?.sum('leader_election_master_status') ?? 0) > 0
}

/** Requests that the manager has sent so far. */
async function requestsOf(manager: BenchManager): Promise<number> {
  const told = await manager.metrics()
  if (told === undefined) throw new Error('the manager does not tell its metrics')
  return told.sum('rest_client_requests_total')
}

/** What came due while everything was set up is not left for the first minutes. */
async function comeToRest(place: Place): Promise<void> {
  await removeFirings(place)
  await removeJobs(place)
}

async function measureOurs(stage: Stage): Promise<OurMinute> {
  const { plane, manager, place, sights, count } = stage
  const due = await nextTurn(stage, ours.isTurn)
  const before = { processor: processorSeconds(plane, manager), requests: await requestsOf(manager) }
  const created = await allOf(stage, 'firing', due, creationMillis)
  const processor = spent(before.processor, processorSeconds(plane, manager), 'manager', count)
  const settled = await allOf(stage, 'settled', due, settlementMillis)
  const requests = ((await requestsOf(manager)) - before.requests) / count
  const watermarks = await allOf(stage, 'watermark', due, settlementMillis)
  await removeFirings(place)
  expectNoGap(sights)
  const minute = {
    lateness: latenessOf(created, due),
    processor,
    requests,
    createdLate: createdLate(created, watermarks),
  }
  const end = Math.round(Math.max(...latenessOf(settled, due)))
  tell(`firings: ${describe(minute)}, ${requests.toFixed(1)} requests each, all ended after ${end} ms`)
  return minute
}

async function measurePeer(stage: Stage): Promise<Minute> {
  const { plane, manager, place, sights, count } = stage
  const due = await nextTurn(stage, peer.isTurn)
  const before = processorSeconds(plane, manager)
  const created = await allOf(stage, 'job', due, creationMillis)
  const processor = spent(before, processorSeconds(plane, manager), 'kube-controller-manager', count)
  await removeJobs(place)
  expectNoGap(sights)
  const minute = { lateness: latenessOf(created, due), processor }
  tell(`Jobs: ${describe(minute)}`)
  return minute
}

function describe({ lateness, processor }: Minute): string {
  const { p50, p99 } = summarize(lateness)
  const parts = [processor.maker, processor.apiServer, processor.etcd].map((millis) => millis.toFixed(2))
  const first = Math.min(...lateness)
  return `first ${first} ms, p50 ${p50} ms, p99 ${p99} ms; processor time each ${parts.join(' + ')} ms (maker, API server, etcd)`
}

/** Waits for the next minute of one side, and returns it. */
async function nextTurn({ place, sights }: Stage, isTurn: (minute: number) => boolean): Promise<string> {
  for (;;) {
    const at = Math.ceil((Date.now() + calmMillis) / minuteMillis) * minuteMillis
    if (isTurn(new Date(at).getUTCMinutes())) {
      await sleep(at - calmMillis / 2 - Date.now())
      sights.forget()
      return new Date(at).toISOString()
    }
    // The turn of the other, which was late to be ready: what comes of it is not left for this one.
    await sleep(at + creationMillis / 2 - Date.now())
    await comeToRest(place)
  }
}

/** Waits until the witness has seen as many as there have to be. */
async function allOf(
  { sights, count }: Stage,
  what: Sight['what'],
  due: string,
  patienceMillis: number,
): Promise<Sight[]> {
  const end = Date.parse(due) + patienceMillis
  for (;;) {
    const seen = sights.of(what, due)
    if (seen.length > count) throw new Error(`${seen.length} of ${what} at ${due}, where ${count} were due`)
    if (seen.length === count) return seen
    if (Date.now() > end)
      throw new Error(`only ${seen.length} of ${count} of ${what} seen ${patienceMillis} ms after ${due}`)
    await sleep(pollMillis)
  }
}

/** Where a watch broke, not every state was seen, and what came first is not known. */
function expectNoGap(sights: Sights): void {
  const [gap] = sights.of('gap')
  if (gap !== undefined) throw new Error(`a watch of the witness broke (${gap.name}): measure again`)
}

function latenessOf(sights: readonly Sight[], due: string): number[] {
  return sights.map(({ at }) => at - Date.parse(due))
}

/** All writes have one order in etcd, and the resourceVersion is the place in it. */
function createdLate(created: readonly Sight[], watermarks: readonly Sight[]): number {
  const first = Math.min(...watermarks.map(({ version }) => Number(version)))
  return created.filter(({ version }) => Number(version) > first).length
}

interface Processor {
  readonly maker: number
  readonly apiServer: number
  readonly etcd: number
}

/** Milliseconds of processor time between two readings, for each of so many objects. */
function spent(
  before: ProcessorSeconds,
  after: ProcessorSeconds,
  maker: keyof ProcessorSeconds,
  count: number,
): Processor {
  const of = (process: keyof ProcessorSeconds) => ((after[process] - before[process]) * 1000) / count
  return { maker: of(maker), apiServer: of('kube-apiserver'), etcd: of('etcd') }
}

function total({ maker, apiServer, etcd }: Processor): number {
  return maker + apiServer + etcd
}

function figures(count: number, mine: readonly OurMinute[], theirs: readonly Minute[]): Figure[] {
  const jobs = 'CronJobs, due → Job seen'
  return [
    {
      title: `${count} Automations due at once → firing seen`,
      unit: 'ms',
      ours: mine.flatMap(({ lateness }) => lateness),
      peer: { title: `${count} ${jobs}`, samples: theirs.flatMap(({ lateness }) => lateness) },
      target: {
        text: 'p99 < 2000 ms, p50 at most half of peer',
        isMet: (own, other) => own.p99 < 2000 && other !== undefined && own.p50 <= other.p50 / 2,
      },
    },
    {
      title: 'of these created after the first watermark was written',
      unit: '',
      ours: mine.map(({ createdLate }) => createdLate),
      target: { text: 'none', isMet: ({ p99 }) => p99 === 0 },
    },
    {
      title: 'processor time until the last is there, for each',
      unit: 'ms',
      ours: mine.map(({ processor }) => total(processor)),
      peer: { title: 'for each Job', samples: theirs.map(({ processor }) => total(processor)) },
    },
    { title: 'requests of the manager for each firing', unit: '', ours: mine.map(({ requests }) => requests) },
  ]
}

function tell(what: string): void {
  console.error(`    ${what}`)
}

function sleep(millis: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, Math.max(0, millis)))
}
