import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { afterAll, beforeAll, it } from 'vitest'
import type { AutomationGraphPlan } from '../../../src/api/automation-graph-plan.ts'
import { kinds } from '../../../src/api/kinds.ts'
import type { Run } from '../../../src/api/run.ts'
import type { KubeClient } from '../../../src/kube/client.ts'
import { loadKubeConfig } from '../../../src/kube/config.ts'
import { type ControlPlane, killApiServer, startControlPlane } from '../../kit/cluster-tool.ts'
import { clientOf } from '../../kit/control-plane.ts'
import { Installation } from './installation.ts'
import { doubleWrites } from './invariants.ts'
import { tell } from './stage.ts'
import { type Version, Witness } from './witness.ts'

// A control plane of its own: the other tests would not like what is done to this one.
let controlPlane: ControlPlane
let client: KubeClient
let operator: Installation
let witness: Witness
/** The API server that was started here last; it ends with its standard input. */
let successor: ChildProcess | undefined

beforeAll(async () => {
  controlPlane = await startControlPlane()
  client = clientOf(loadKubeConfig({ kubeconfig: controlPlane.kubeconfig }), { types: kinds })
  operator = await Installation.start({ client, kubeconfig: controlPlane.kubeconfig })
  witness = await new Witness(client).start()
}, 120_000)

afterAll(async () => {
  await witness?.stop()
  await operator?.stop()
  await client?.transport.close()
  successor?.stdin?.end()
  await controlPlane?.stop()
})

/**
 * Moments of a story, as the API server tells of them. Not more than two: watches wait longer after each outage that
 * follows another within two minutes.
 */
const moments: readonly ((version: Version) => boolean)[] = [
  ({ object }) => object.kind === 'AutomationGraphPlan' && (object as AutomationGraphPlan).status?.phase === 'Applying',
  ({ object }) => object.kind === 'Run' && (object as Run).status?.startedAt !== undefined,
]

/** Kills the API server at each of the moments, and starts it again. */
async function killAtMoments(): Promise<void> {
  let startAgain: (() => Promise<ChildProcess>) | undefined
  for (const seen of moments.map((isIt) => witness.sees(isIt))) {
    await seen
    if (successor === undefined) startAgain = await killApiServer(controlPlane)
    else await ended(successor)
    successor = await startAgain?.()
  }
}

async function ended(child: ChildProcess): Promise<void> {
  child.stdin?.end()
  await once(child, 'exit')
}

it('an API server that is killed again and again loses nothing of a story', async () => {
  const { history } = await tell({ client, operator, witness }, { meanwhile: killAtMoments })
  console.log(`the API server was killed ${moments.length} times; ${doubleWrites(history).length} writes for nothing`)
}, 240_000)
