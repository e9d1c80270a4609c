import type { KubeClient } from '../../../src/kube/client.ts'
import type { AuditedRequest } from '../../kit/audit-log.ts'
import { shell } from '../../kit/docs-commands.ts'

interface Rule {
  readonly apiGroups?: readonly string[]
  readonly resources?: readonly string[]
  readonly resourceNames?: readonly string[]
  readonly nonResourceURLs?: readonly string[]
  readonly verbs: readonly string[]
}

/** What a Role grants, as `VERB RESOURCE[.GROUP][/SUBRESOURCE]`. */
export async function grantsOf(client: KubeClient, role: string, namespace: string): Promise<string[]> {
  const path = `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}/roles/${role}`
  const { rules } = await client.transport.request<{ rules: Rule[] }>({ path })
  return rules.flatMap(grantsOfRule).sort()
}

function grantsOfRule({ apiGroups = [], resources = [], verbs }: Rule): string[] {
  return apiGroups.flatMap((group) =>
    resources.flatMap((resource) => verbs.map((verb) => `${verb} ${targetOf(group, resource)}`)),
  )
}

function targetOf(group: string, resource: string): string {
  const [plural = '', subresource] = resource.split('/')
  const name = group === '' ? plural : `${plural}.${group}`
  return subresource === undefined ? name : `${name}/${subresource}`
}

/** What was granted and not asked for. */
export function unusedGrants(grants: readonly string[], requests: readonly AuditedRequest[]): string[] {
  const used = new Set(requests.map(({ verb, target }) => `${verb} ${target}`))
  return grants.filter((grant) => !used.has(grant))
}

/** Everything a user may do in a namespace, the rights in the whole cluster among it. */
export async function rightsOf(kubeconfig: string, user: string, namespace: string): Promise<string[]> {
  const listed = await shell(`kubectl auth can-i --list --as=${user} -n ${namespace}`, kubeconfig)
  return listed.split('\n').sort()
}
