import { type Environment, type EnvironmentStatus, environment } from '../api/environment.ts'
import { fieldManagers, runnerName } from '../api/labels.ts'
import { networkPolicyType, serviceAccountType } from '../kube/core-types.ts'
import { type KubeObject, keyOf, type ObjectKey } from '../lib/object.ts'
import type { DeepReadonly } from '../lib/readonly.ts'
import { type EnvironmentOptions, environmentReconciler } from '../reconcilers/environment.ts'
import { type ControllerSpec, watch } from '../runtime/controller.ts'
import type { Reader } from '../runtime/result.ts'

export function environmentController(options: EnvironmentOptions): ControllerSpec<Environment, EnvironmentStatus> {
  return {
    name: 'environment',
    for: environment,
    ready: 'Ready',
    fieldManager: fieldManagers.manager,
    reconcile: environmentReconciler(options),
    watches: [watch(serviceAccountType, environmentsOf), watch(networkPolicyType, environmentsOf)],
  }
}

/** What the manager keeps in a workspace comes back when it is changed or deleted. */
function environmentsOf({ metadata }: DeepReadonly<KubeObject>, read: Reader): ObjectKey[] {
  if (metadata.name !== runnerName) return []
  return read.list(environment, metadata.namespace).map((one) => keyOf(one.metadata))
}
