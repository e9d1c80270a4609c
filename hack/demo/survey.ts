import { operatorNamespace } from '../operator.ts'
import { type Access, CommandFailed, kubectl } from './access.ts'
import { type ForeignCluster, sampleNamespace } from './foreign.ts'
import { Refusal } from './target.ts'

/** Label of what the demo made in a cluster of others. */
export const demoLabel = 'graphwright.dev/demo'

const oldestMinor = 33

/** Who installed the kinds, as their definitions say it. */
export interface Installed {
  readonly crds: readonly string[]
  /** Helm release that they belong to, as `namespace/name`. */
  readonly release: string | undefined
  /** Namespaces in which a manager or a gateway runs. */
  readonly namespaces: readonly string[]
}

/** What the demo has to know of a cluster before it changes anything. */
export interface Survey {
  readonly installed: Installed
  /** Those of the demo's two namespaces that exist, and whether the demo made them. */
  readonly namespaces: ReadonlyMap<string, boolean>
  readonly storageClasses: readonly { readonly name: string; readonly isDefault: boolean }[]
}

/** Looks at a cluster. @throws {Refusal} where it does not answer, is too old, or does not let this user do it */
export function survey(access: Access, cluster: ForeignCluster): Survey {
  checkVersion(access, cluster)
  checkRights(access, cluster)
  return {
    installed: installedIn(access),
    namespaces: namespacesOf(access),
    storageClasses: itemsOf(access, ['get', 'storageclass']).map(({ metadata }) => ({
      name: metadata.name,
      isDefault: metadata.annotations?.['storageclass.kubernetes.io/is-default-class'] === 'true',
    })),
  }
}

interface Item {
  readonly metadata: {
    readonly name: string
    readonly namespace?: string
    readonly labels?: Readonly<Record<string, string>>
    readonly annotations?: Readonly<Record<string, string>>
  }
}

function itemsOf(access: Access, args: readonly string[]): readonly Item[] {
  return (JSON.parse(kubectl(access, [...args, '-o', 'json'])) as { items: Item[] }).items
}

/** @throws {Refusal} */
export function checkVersion(access: Access, { context, server }: ForeignCluster): void {
  let text: string
  try {
    text = kubectl(access, ['version', '-o', 'json', '--request-timeout=10s'])
  } catch (error) {
    if (!(error instanceof CommandFailed)) throw error
    const said = error.message.split('\n').at(-1)
    throw new Refusal(
      `${server} (context ${context}) does not answer this user: ${said}\nSee whether  kubectl --context ${context} get namespaces  works, then try again.`,
    )
  }
  const { serverVersion } = JSON.parse(text) as { serverVersion?: { minor: string; gitVersion: string } }
  if (serverVersion === undefined || Number.parseInt(serverVersion.minor, 10) >= oldestMinor) return
  throw new Refusal(`${server} runs Kubernetes ${serverVersion.gitVersion}; 1.${oldestMinor} or newer is needed.`)
}

/** What installing takes; the roles that are made hold no more than an administrator has. */
const needed = [
  ['', 'namespaces'],
  ['apiextensions.k8s.io', 'customresourcedefinitions'],
  ['rbac.authorization.k8s.io', 'clusterroles'],
  ['rbac.authorization.k8s.io', 'clusterrolebindings'],
  ['admissionregistration.k8s.io', 'validatingadmissionpolicies'],
  ['admissionregistration.k8s.io', 'validatingadmissionpolicybindings'],
  ['apps', 'deployments'],
  ['', 'secrets'],
] as const

/** @throws {Refusal} with everything that is missing */
function checkRights(access: Access, { context, user }: ForeignCluster): void {
  const reviews = needed.flatMap(([group, resource]) =>
    ['create', 'delete'].map((verb) => review(group, resource, verb)),
  )
  // One line for each: kubectl puts the objects themselves behind each other, which is no JSON.
  const line = '{.spec.resourceAttributes.verb} {.spec.resourceAttributes.resource}: {.status.allowed}{"\\n"}'
  const list = JSON.stringify({ apiVersion: 'v1', kind: 'List', items: reviews })
  const answers = kubectl(access, ['create', '-f', '-', '-o', `jsonpath=${line}`], list)
    .trim()
    .split('\n')
  const missing = answers.filter((answer) => !answer.endsWith(': true')).map((answer) => answer.split(':')[0])
  if (missing.length === 0) return
  const rights = [...new Set(missing)].join(', ')
  throw new Refusal(
    `User ${user} of context ${context} may not install: the right to ${rights} is missing.\n` +
      'Ask for the role cluster-admin, or let an administrator install as docs/install.md says.',
  )
}

function review(group: string, resource: string, verb: string): object {
  const spec = { resourceAttributes: { group, resource, verb } }
  return { apiVersion: 'authorization.k8s.io/v1', kind: 'SelfSubjectAccessReview', spec }
}

function installedIn(access: Access): Installed {
  const crds = itemsOf(access, ['get', 'crd']).filter(({ metadata }) => metadata.name.endsWith('.graphwright.dev'))
  const annotations = crds[0]?.metadata.annotations ?? {}
  const name = annotations['meta.helm.sh/release-name']
  const selector = 'app.kubernetes.io/name=graphwright'
  const deployments = itemsOf(access, ['get', 'deployments', '--all-namespaces', '--selector', selector])
  return {
    crds: crds.map(({ metadata }) => metadata.name),
    release: name && `${annotations['meta.helm.sh/release-namespace']}/${name}`,
    namespaces: [...new Set(deployments.map(({ metadata }) => metadata.namespace ?? ''))],
  }
}

function namespacesOf(access: Access): ReadonlyMap<string, boolean> {
  const both = [operatorNamespace, sampleNamespace]
  const found = itemsOf(access, [
    'get',
    'namespaces',
    '--selector',
    `kubernetes.io/metadata.name in (${both.join(',')})`,
  ])
  return new Map(found.map(({ metadata }) => [metadata.name, metadata.labels?.[demoLabel] === 'true']))
}

/** True where the demo itself installed before. */
export function isOurs({ namespaces }: Survey): boolean {
  return namespaces.get(operatorNamespace) === true
}

/** Why the demo must leave what is there alone; undefined where it may install, or has before. */
export function occupied(found: Survey): string | undefined {
  if (isOurs(found)) return taken(found, sampleNamespace)
  const { crds, release, namespaces } = found.installed
  const [namespace] = namespaces
  if (release !== undefined && namespaces.length > 0) {
    return `Graphwright is installed there already, as the Helm release ${release}. ${leftAlone}`
  }
  if (namespace !== undefined) {
    return `Graphwright is installed there already, in the namespace ${namespace}, and not by Helm. ${leftAlone}`
  }
  if (crds.length > 0) {
    const owner = release === undefined ? 'somebody' : `the Helm release ${release}`
    return (
      `The kinds of graphwright.dev are there already, left by ${owner}, without an operator. The demo leaves them alone. ` +
      'kubectl delete -f crds/ removes them, with every object of these kinds.'
    )
  }
  return taken(found, operatorNamespace) ?? taken(found, sampleNamespace)
}

const leftAlone =
  'The demo leaves it alone. To try the sample with it:\n' +
  'kubectl apply --server-side -n NAMESPACE -f manifests/samples/triage-and-escalate'

function taken({ namespaces }: Survey, name: string): string | undefined {
  if (namespaces.get(name) !== false) return undefined
  return `The namespace ${name} is there already, and the demo did not make it. Remove or rename it, or use another cluster.`
}

/** Why the gateway would get no volume; undefined where it would. */
export function storageProblem({ storageClasses }: Survey, wanted: string | undefined): string | undefined {
  const names = storageClasses.map(({ name }) => name)
  const offer = names.length === 0 ? 'It has none at all.' : `It has: ${names.join(', ')}.`
  if (wanted === undefined) {
    if (storageClasses.some(({ isDefault }) => isDefault)) return undefined
    return `The cluster has no default StorageClass, and the gateway needs a volume of 1 GiB: name one with STORAGE_CLASS=name. ${offer}`
  }
  return names.includes(wanted) ? undefined : `The cluster has no StorageClass ${wanted}. ${offer}`
}
