import { installation } from '../api/installation.ts'
import { apiVersion as ownApiVersion } from '../api/kind.ts'
import { kinds } from '../api/kinds.ts'
import { labels, runnerName } from '../api/labels.ts'
import type { ListOptions } from '../kube/call-options.ts'
import type { KubeClient } from '../kube/client.ts'
import { type Job, jobType, leaseType, networkPolicyType, secretType, serviceAccountType } from '../kube/core-types.ts'
import { isForbidden, isNotFound } from '../kube/error.ts'
import { type KubeObject, type ResourceType, resourceOf } from '../lib/object.ts'

/** What could not be read, and is therefore not known to be absent. */
export interface Unread {
  /** As kubectl names it: `jobs.batch`. */
  readonly resource: string
  /** Undefined: in the whole cluster. */
  readonly namespace: string | undefined
  readonly message: string
}

/** A Deployment, as far as it is looked at. */
export interface Deployment extends KubeObject {
  spec?: { template?: { spec?: { containers?: { args?: string[] }[] } } }
  status?: { readyReplicas?: number }
}

/** A manager that is installed. */
export interface InstalledManager {
  readonly namespace: string
  readonly isReady: boolean
  /** Name of the release of Helm; undefined: installed without it. */
  readonly release: string | undefined
  /** The only namespaces that it serves; empty: all. */
  readonly namespaces: readonly string[]
}

/** Everything of Graphwright that was found. */
export interface Survey {
  readonly managers: readonly InstalledManager[]
  /** Objects of its kinds. */
  readonly objects: readonly KubeObject[]
  readonly jobs: readonly Job[]
  /** What is kept in workspaces for the pods of Runs. */
  readonly workspaces: readonly KubeObject[]
  /** What stays in the namespaces of the operators: volumes, Secrets, Leases. */
  readonly remains: readonly KubeObject[]
  /** What exists once in the cluster; where only some namespaces are looked at, that of the operators there alone. */
  readonly shared: readonly KubeObject[]
  /** False where only the workspaces of some operators were looked at. */
  readonly isWholeCluster: boolean
  readonly unread: readonly Unread[]
}

export interface SurveyOptions {
  /** Namespaces of operators; none: those in which one is found. */
  readonly operators: readonly string[]
  /** Workspaces to look at; none: those that the operators serve. */
  readonly workspaces: readonly string[]
}

/** Name of the namespace that the documentation installs into. */
export const usualNamespace = 'graphwright-system'

const ours = 'app.kubernetes.io/name=graphwright'

function typeOf<T extends KubeObject = KubeObject>(
  apiVersion: string,
  kind: string,
  plural: string,
  namespaced: boolean,
): ResourceType<T> {
  return { apiVersion, kind, plural, namespaced }
}

const deploymentType = typeOf<Deployment>('apps/v1', 'Deployment', 'deployments', true)
const claimType = typeOf('v1', 'PersistentVolumeClaim', 'persistentvolumeclaims', true)
const crdType = typeOf('apiextensions.k8s.io/v1', 'CustomResourceDefinition', 'customresourcedefinitions', false)
const admission = 'admissionregistration.k8s.io/v1'
const rbac = 'rbac.authorization.k8s.io/v1'
const sharedTypes = [
  typeOf(admission, 'ValidatingAdmissionPolicyBinding', 'validatingadmissionpolicybindings', false),
  typeOf(admission, 'ValidatingAdmissionPolicy', 'validatingadmissionpolicies', false),
  typeOf(rbac, 'ClusterRoleBinding', 'clusterrolebindings', false),
  typeOf(rbac, 'ClusterRole', 'clusterroles', false),
]

/** Looks for everything of Graphwright. What may not be read is noted; what the server does not know does not exist. */
export async function survey(client: KubeClient, options: SurveyOptions): Promise<Survey> {
  const reader = new Reader(client)
  const managers = await findManagers(reader, options.operators)
  const workspaces = options.workspaces.length > 0 ? options.workspaces : servedBy(managers)
  const places = workspaces.length === 0 ? [undefined] : workspaces
  const [objects, jobs, accounts, policies] = await Promise.all([
    Promise.all(kinds.map((kind) => reader.list<KubeObject>(kind, places))).then((lists) => lists.flat()),
    reader.list(jobType, places, { labelSelector: labels.run }),
    reader.list<KubeObject>(serviceAccountType, places, named(runnerName)),
    reader.list<KubeObject>(networkPolicyType, places, named(runnerName)),
  ])
  const homes = options.operators.length > 0 ? options.operators : homesOf(managers)
  const remains = (await Promise.all(homes.map((home) => remainsIn(reader, home)))).flat()
  const isWholeCluster = workspaces.length === 0
  const shared = isWholeCluster ? await sharedObjects(reader) : await ownShared(client, managers)
  const kept = [...accounts, ...policies]
  return { managers, objects, jobs, workspaces: kept, remains, shared, isWholeCluster, unread: reader.unread }
}

/** Reads what it may, and notes what it may not. */
class Reader {
  readonly unread: Unread[] = []
  readonly #client: KubeClient

  constructor(client: KubeClient) {
    this.#client = client
  }

  /** @param places namespaces; undefined: all */
  async list<T extends KubeObject>(
    type: ResourceType<T>,
    places: readonly (string | undefined)[],
    options: ListOptions = {},
  ): Promise<T[]> {
    const lists = await Promise.all(
      places.map((namespace) =>
        this.#read<T[]>(
          type,
          namespace,
          [],
          async () => (await this.#client.list(type, { ...options, namespace })).items,
        ),
      ),
    )
    return lists.flat()
  }

  async find<T extends KubeObject>(type: ResourceType<T>, namespace: string, name: string): Promise<T[]> {
    return this.#read<T[]>(type, namespace, [], async () => [await this.#client.get(type, { name, namespace })])
  }

  async #read<T>(
    type: ResourceType<KubeObject>,
    namespace: string | undefined,
    nothing: T,
    read: () => Promise<T>,
  ): Promise<T> {
    try {
      return await read()
    } catch (error) {
      // Neither the object nor, where it is a list, the kind.
      if (isNotFound(error)) return nothing
      if (!isForbidden(error)) throw error
      this.unread.push({ resource: resourceOf(type), namespace, message: error.message })
      return nothing
    }
  }
}

async function findManagers(reader: Reader, operators: readonly string[]): Promise<InstalledManager[]> {
  const places = operators.length === 0 ? [undefined] : operators
  const labelSelector = `${ours},app.kubernetes.io/component=manager`
  const found = await reader.list(deploymentType, places, { labelSelector })
  return found.map(({ metadata, spec, status }) => {
    const args = spec?.template?.spec?.containers?.[0]?.args ?? []
    const limit = args.find((arg) => arg.startsWith(namespacesFlag))?.slice(namespacesFlag.length) ?? ''
    return {
      namespace: metadata.namespace ?? '',
      isReady: (status?.readyReplicas ?? 0) > 0,
      release: helmNameOf(metadata.annotations?.['meta.helm.sh/release-name']),
      namespaces: limit.split(',').filter((name) => name !== ''),
    }
  })
}

const namespacesFlag = '--namespaces='

/** The workspaces of operators that are all limited to some; none where one of them serves all. */
function servedBy(managers: readonly InstalledManager[]): string[] {
  if (managers.some(({ namespaces }) => namespaces.length === 0)) return []
  return [...new Set(managers.flatMap(({ namespaces }) => namespaces))]
}

/** Without a manager, what it left is looked for where it usually is. */
function homesOf(managers: readonly InstalledManager[]): string[] {
  return managers.length === 0 ? [usualNamespace] : managers.map(({ namespace }) => namespace)
}

/** What Helm does not remove: it keeps the volume, and never made the rest. */
async function remainsIn(reader: Reader, home: string): Promise<KubeObject[]> {
  const { caSecret, gatewayTlsSecret, managerLease } = installation
  const found = await Promise.all([
    reader.list(claimType, [home], { labelSelector: ours }),
    reader.find<KubeObject>(secretType, home, caSecret),
    reader.find<KubeObject>(secretType, home, gatewayTlsSecret),
    reader.find<KubeObject>(leaseType, home, managerLease),
  ])
  return found.flat().map(withoutSecrets)
}

/** Nobody needs the contents, and what is not kept cannot be printed. */
function withoutSecrets({ apiVersion, kind, metadata }: KubeObject): KubeObject {
  return { apiVersion, kind, metadata }
}

async function sharedObjects(reader: Reader): Promise<KubeObject[]> {
  const [definitions, ...others] = await Promise.all([
    reader.list(crdType, [undefined]),
    ...sharedTypes.map((type) => reader.list(type, [undefined], { labelSelector: ours })),
  ])
  const group = `.${ownApiVersion.split('/')[0]}`
  return [...others.flat(), ...definitions.filter(({ metadata }) => metadata.name.endsWith(group))]
}

/** What a release brought for the whole cluster, though it serves some namespaces only. Others may need the rest. */
async function ownShared(client: KubeClient, managers: readonly InstalledManager[]): Promise<KubeObject[]> {
  const releases = releasesOf(managers)
  // Who may not see it cannot have installed it.
  const found = await sharedObjects(new Reader(client))
  return found.filter((object) => releases.has(releaseOf(object) ?? ''))
}

/** `NAMESPACE/NAME` of the release of Helm that owns the object. */
export function releaseOf({ metadata }: KubeObject): string | undefined {
  const { 'meta.helm.sh/release-name': release, 'meta.helm.sh/release-namespace': place } = metadata.annotations ?? {}
  const name = helmNameOf(release)
  const namespace = helmNameOf(place)
  return name === undefined || namespace === undefined ? undefined : `${namespace}/${name}`
}

/** A name that Helm can have given. Annotations hold whatever anybody writes, and this becomes part of a command line. */
function helmNameOf(text: string | undefined): string | undefined {
  return text !== undefined && /^[a-z0-9]([-a-z0-9.]{0,61}[a-z0-9])?$/.test(text) ? text : undefined
}

/** Releases of these managers, as {@link releaseOf} names them. */
export function releasesOf(managers: readonly InstalledManager[]): ReadonlySet<string> {
  return new Set(managers.flatMap(({ release, namespace }) => (release === undefined ? [] : `${namespace}/${release}`)))
}

function named(name: string): ListOptions {
  return { fieldSelector: `metadata.name=${name}` }
}
