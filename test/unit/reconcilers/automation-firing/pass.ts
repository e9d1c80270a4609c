import { expect } from 'vitest'
import type { AutomationFiring, AutomationFiringStatus } from '../../../../src/api/automation-firing.ts'
import { labels, settleFinalizer } from '../../../../src/api/labels.ts'
import type { Session } from '../../../../src/api/session.ts'
import { digestBytes } from '../../../../src/lib/digest.ts'
import type { KubeObject } from '../../../../src/lib/object.ts'
import { ownedBy } from '../../../../src/lib/owner-references.ts'
import { deepFreeze } from '../../../../src/lib/readonly.ts'
import { firingReconciler } from '../../../../src/reconcilers/automation-firing.ts'
import { ContentStoreError } from '../../../../src/runtime/content-client.ts'
import type { ContentStore } from '../../../../src/runtime/content-store.ts'
import { aFiring, anAgent, anAgentVersion, anAutomation, anEnvironment } from '../../../kit/builders.ts'
import { lintStatus } from '../../../kit/lint-status.ts'
import { type ContextGiven, reconcileContext } from '../../../kit/reconcile-context.ts'

/** What a firing lives in: a ready Automation that has started it, and what that refers to. */
export const serviceAccount = {
  apiVersion: 'v1',
  kind: 'ServiceAccount',
  metadata: { name: 'triage', namespace: 'default', uid: 'uid-of-account' },
}
export const version = anAgentVersion()
export const { digest } = version.spec
export const agent = anAgent({
  status: { latestVersion: { name: 'triager-v1', number: 1, digest, uid: 'uid-of-triager-v1' } },
})
export const active = {
  state: 'Active',
  observedGeneration: 1,
  active: [{ name: 'triage-manual-1', uid: 'uid-of-triage-manual-1' }],
} as const
export const automation = anAutomation({ status: structuredClone(active) as never })
export const environment = anEnvironment()
export const world: readonly KubeObject[] = [automation, environment, serviceAccount, agent, version]

/** A content store in memory, and a validator that takes every text for JSON. */
export function tools() {
  const stored = new Map<string, string>()
  const contents: ContentStore = {
    put: async (text) => {
      stored.set(digestBytes(text), text)
      return { digest: digestBytes(text), size: Buffer.byteLength(text) }
    },
    get: async (name) => {
      const text = stored.get(name)
      if (text === undefined) throw new ContentStoreError('unavailable', 'the gateway was not reached')
      return text
    },
  }
  const schemas = { validate: async (text: string) => ({ kind: 'valid', text }) as const }
  return { contents, schemas, stored }
}

export async function reconcile(firing: AutomationFiring, given: ContextGiven = {}, using = tools()) {
  const result = await firingReconciler(using)(deepFreeze(firing), reconcileContext({ cached: world, ...given }))
  const { status } = result
  if (status !== undefined) {
    const written = { ...firing, status: { ...status, observedGeneration: 1 } }
    expect(lintStatus(written as never)).toEqual([])
  }
  return result
}

export async function admitted(given: ContextGiven = {}): Promise<AutomationFiringStatus> {
  const { status } = await reconcile(aFiring(), given)
  if (status?.admission === undefined) throw new Error(`not admitted: ${status?.reason} ${status?.message}`)
  return status
}

/** A firing as it is once its Automation has it. */
export function claimed(given: Parameters<typeof aFiring>[0] = {}): AutomationFiring {
  const own = { [labels.managedBy]: 'graphwright', [labels.automation]: 'triage' }
  const metadata = { labels: own, ownerReferences: [ownedBy(automation)], finalizers: [settleFinalizer] }
  return aFiring({ ...given, metadata: { ...metadata, ...given.metadata } })
}

export const without = (...kinds: string[]) => world.filter(({ kind }) => !kinds.includes(kind))

export function sessionOf(firing: AutomationFiring, session: Session, status: Session['status']): Session {
  const metadata = { ...session.metadata, uid: `uid-of-${session.metadata.name}`, ownerReferences: [ownedBy(firing)] }
  return { ...session, metadata, ...(status !== undefined && { status }) }
}
