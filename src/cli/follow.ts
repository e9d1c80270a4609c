import { type AutomationFiring, automationFiring } from '../api/automation-firing.ts'
import { isNotFound, isUnavailable } from '../kube/error.ts'
import type { Cluster } from './cluster.ts'
import { cannotAsk, type Io } from './io.ts'
import { isSettled, programReceipt, type StepReceipt } from './receipt.ts'
import { type OrderedFiring, StepOrders } from './step-order.ts'

const pauseMillis = 400
/** An API server that restarts is waited for this long. */
const patienceMillis = 60_000

/** Reads a firing until it has settled, and tells each step as it changes. Interrupting leaves the firing alone. */
export async function follow(firing: AutomationFiring, cluster: Cluster, io: Io): Promise<OrderedFiring> {
  const orders = new StepOrders(cluster)
  const told = new Map<string, string>()
  let lastSeen = io.clock.monotonic()
  let seen = await orders.find(firing)
  for (;;) {
    for (const step of programReceipt(seen).steps) tell(step, told, io)
    if (isSettled(seen.firing)) return seen
    await io.clock.sleep(pauseMillis, io.signal)
    try {
      seen = await orders.find(await read(firing, cluster))
      lastSeen = io.clock.monotonic()
    } catch (error) {
      if (!isUnavailable(error) || io.clock.monotonic() - lastSeen > patienceMillis) throw error
    }
  }
}

async function read({ metadata }: AutomationFiring, { client, namespace }: Cluster): Promise<AutomationFiring> {
  try {
    return await client.get(automationFiring, { name: metadata.name, namespace })
  } catch (error) {
    if (!isNotFound(error)) throw error
    throw cannotAsk('not_found', `the firing ${metadata.name} was deleted while it was followed`, error)
  }
}

/** One line for each change of a step, on the error stream: results go elsewhere. */
function tell(step: StepReceipt, told: Map<string, string>, io: Io): void {
  const line = [step.kind, step.arm, step.reason].filter((part) => part !== undefined).join(' ')
  if (told.get(step.id) === line) return
  told.set(step.id, line)
  const time = io.clock.now().toISOString().slice(11, 19)
  const why = step.kind === 'running' && step.message !== undefined ? `: ${step.message}` : ''
  io.err(`${time}  ${step.id}  ${line}${why}\n`)
}
