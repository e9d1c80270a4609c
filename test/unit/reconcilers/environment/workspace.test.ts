import { expect, it } from 'vitest'
import type { NetworkPolicy, ServiceAccount } from '../../../../src/kube/core-types.ts'
import { workspaceObjects } from '../../../../src/reconcilers/environment/workspace.ts'

const [account, policy] = workspaceObjects('team-a', 'graphwright-system') as [ServiceAccount, NetworkPolicy]

it('a workspace has an account without a token of the API server', () => {
  expect(account.metadata).toMatchObject({ name: 'graphwright-runner', namespace: 'team-a' })
  expect(account.automountServiceAccountToken).toBe(false)
})

it('isolated pods reach the gateway alone, and nobody reaches them', () => {
  expect(policy.metadata).toMatchObject({ name: 'graphwright-runner', namespace: 'team-a' })
  expect(policy.spec).toEqual({
    podSelector: { matchLabels: { 'graphwright.dev/network': 'isolated' } },
    policyTypes: ['Ingress', 'Egress'],
    egress: [
      {
        to: [
          {
            namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'graphwright-system' } },
            podSelector: {
              matchLabels: { 'app.kubernetes.io/name': 'graphwright', 'app.kubernetes.io/component': 'gateway' },
            },
          },
        ],
        ports: [{ protocol: 'TCP', port: 8443 }],
      },
    ],
  })
})

it('what a workspace needs belongs to no Environment', () => {
  expect([account, policy].map(({ metadata }) => metadata.ownerReferences)).toEqual([[], []])
})
