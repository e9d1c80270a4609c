import { randomUUID } from 'node:crypto'
import type { Automation } from '../api/automation.ts'
import { type AutomationFiring, automationFiring } from '../api/automation-firing.ts'
import { fieldManagers, labels } from '../api/labels.ts'
import { isAlreadyExists } from '../kube/error.ts'
import { sameJson } from '../lib/json.ts'
import { firingName, manualKey } from '../lib/names.ts'
import { namespaceOf } from '../lib/object.ts'
import type { Cluster } from './cluster.ts'
import { refusal } from './io.ts'

/** What a person asks of an Automation. */
export interface ManualRequest {
  /** Who asks: the user name that the API server knows. */
  readonly user: string
  /** Id of the trigger to enter by. */
  readonly entry: string
  readonly idempotencyKey?: string | undefined
  readonly event?: unknown
}

/** The firing of a request. Without a key its name is the identity: a request that is repeated finds its own firing. */
export function manualFiring({ metadata }: Automation, request: ManualRequest): AutomationFiring {
  const { user, entry, idempotencyKey, event } = request
  const { name, uid = '' } = metadata
  const key = manualKey(user, idempotencyKey ?? randomUUID())
  return {
    apiVersion: automationFiring.apiVersion,
    kind: automationFiring.kind,
    metadata: {
      name: firingName({ name, uid }, 'manual', key),
      ...namespaceOf(metadata),
      labels: { [labels.automation]: name },
    },
    spec: {
      automation: { name, uid },
      trigger: 'manual',
      entry,
      requestedBy: user,
      ...(idempotencyKey !== undefined && { idempotencyKey }),
      ...(event !== undefined && { event }),
    },
  }
}

/** A paused Automation refuses. The operator refuses too; looking first says so at once. */
export function checkNotPaused({ metadata, spec }: Automation, invocation: string): void {
  if (spec.paused !== true) return
  throw refusal(
    'validation.conflict',
    `Automation ${metadata.name} is paused and starts nothing; resume it first: ${invocation} resume ${metadata.name}`,
  )
}

export interface Fired {
  readonly firing: AutomationFiring
  /** The firing was there already, by the same user and key. */
  readonly rejoined: boolean
}

/** Creates the firing; the name is the lock. Another request under the same key is a conflict. */
export async function fire(request: AutomationFiring, { client, namespace }: Cluster): Promise<Fired> {
  const { name } = request.metadata
  try {
    return { firing: await client.create(request, { fieldManager: fieldManagers.cli }), rejoined: false }
  } catch (error) {
    if (!isAlreadyExists(error)) throw error
    const firing = await client.get(automationFiring, { name, namespace })
    if (sameJson(firing.spec, request.spec)) return { firing, rejoined: true }
    throw refusal(
      'validation.conflict',
      `the idempotency key ${request.spec.idempotencyKey} was used for another request, whose firing is ${name}; use another key for another event or trigger`,
    )
  }
}
