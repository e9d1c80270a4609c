import type { Admission } from '../../api/automation-firing.ts'
import { labels } from '../../api/labels.ts'
import { type Session, session } from '../../api/session.ts'
import { namespaceOf } from '../../lib/object.ts'
import type { DeepReadonly } from '../../lib/readonly.ts'
import type { SessionWanted } from '../../program/wanted.ts'
import type { Firing } from './checks.ts'

/**
 * The Session that works for a step. The same step of the same firing always gives the same object: everything in it
 * comes from what was frozen at admission, so that creating it again after a crash is recognised.
 */
export function sessionFor(firing: Firing, admission: DeepReadonly<Admission>, wanted: SessionWanted): Session {
  const pin = admission.pins.find(({ agent }) => agent === wanted.agent)
  if (pin === undefined) throw new Error(`no version of agent ${wanted.agent} is pinned in the admission`)
  const { name, uid = '', labels: own } = firing.metadata
  const graph = own?.[labels.graph]
  const { prompt, bindings, timeoutSeconds, step } = wanted
  return {
    apiVersion: session.apiVersion,
    kind: session.kind,
    metadata: {
      name: wanted.name,
      ...namespaceOf(firing.metadata),
      labels: {
        [labels.automation]: firing.spec.automation.name,
        [labels.firing]: name,
        [labels.step]: step,
        [labels.agent]: wanted.agent,
        ...(graph !== undefined && { [labels.graph]: graph }),
      },
    },
    spec: {
      firing: { name, uid },
      step,
      item: 0,
      attempt: 0,
      agentVersion: { name: pin.version, uid: pin.uid, digest: pin.digest },
      environment: {
        name: admission.environment.name,
        spec: structuredClone(admission.environment.spec) as Session['spec']['environment']['spec'],
      },
      serviceAccountName: admission.principal.serviceAccountName,
      input: { prompt, ...(bindings !== undefined && { bindings: { ...bindings } }) },
      ...(timeoutSeconds !== undefined && { timeoutSeconds }),
    },
  }
}
