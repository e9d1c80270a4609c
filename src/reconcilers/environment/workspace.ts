import { networkLabel, runnerName } from '../../api/labels.ts'
import { gatewayPort } from '../../api/run-api.ts'
import {
  type NetworkPolicy,
  networkPolicyType,
  type ServiceAccount,
  serviceAccountType,
} from '../../kube/core-types.ts'
import type { KubeObject } from '../../lib/object.ts'

/**
 * What every workspace (a namespace with an Environment) needs so that pods of runs can be made in it. It belongs to no
 * Environment: pods hold tokens of the ServiceAccount, which end with it, whatever becomes of the Environment.
 */
export function workspaceObjects(namespace: string, operatorNamespace: string): KubeObject[] {
  return [runnerAccount(namespace), isolation(namespace, operatorNamespace)]
}

/** The account that pods run as. It has no rights, and no token but the one that the gateway takes. */
function runnerAccount(namespace: string): ServiceAccount {
  return {
    apiVersion: serviceAccountType.apiVersion,
    kind: serviceAccountType.kind,
    metadata: { name: runnerName, namespace, ownerReferences: [] },
    automountServiceAccountToken: false,
  }
}

/** Isolated pods reach the gateway and nothing else, not even DNS, and nobody reaches them. */
function isolation(namespace: string, operatorNamespace: string): NetworkPolicy {
  return {
    apiVersion: networkPolicyType.apiVersion,
    kind: networkPolicyType.kind,
    metadata: { name: runnerName, namespace, ownerReferences: [] },
    spec: {
      podSelector: { matchLabels: { [networkLabel]: 'isolated' } },
      policyTypes: ['Ingress', 'Egress'],
      egress: [{ to: [gatewayPods(operatorNamespace)], ports: [{ protocol: 'TCP', port: gatewayPort }] }],
    },
  }
}

function gatewayPods(operatorNamespace: string) {
  return {
    namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': operatorNamespace } },
    podSelector: {
      matchLabels: { 'app.kubernetes.io/name': 'graphwright', 'app.kubernetes.io/component': 'gateway' },
    },
  }
}
