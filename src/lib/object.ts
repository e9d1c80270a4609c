/** The part of `metav1.ObjectMeta` that the project reads or writes. Times are RFC 3339 texts, as on the wire. */
export interface ObjectMeta {
  name: string
  namespace?: string
  generateName?: string
  uid?: string
  resourceVersion?: string
  generation?: number
  creationTimestamp?: string
  deletionTimestamp?: string
  labels?: Record<string, string>
  annotations?: Record<string, string>
  finalizers?: string[]
  ownerReferences?: OwnerReference[]
  /** Only of objects that were just read from the API server: caches do not keep it. */
  managedFields?: ManagedFieldsEntry[]
}

/** `metav1.ManagedFieldsEntry`, as far as it is read: who wrote which fields last. */
export interface ManagedFieldsEntry {
  manager?: string
  time?: string
  fieldsV1?: unknown
}

/** `metav1.OwnerReference`. */
export interface OwnerReference {
  apiVersion: string
  kind: string
  name: string
  uid: string
  controller?: boolean
  blockOwnerDeletion?: boolean
}

/** Any Kubernetes object as it is on the wire. */
export interface KubeObject {
  apiVersion: string
  kind: string
  metadata: ObjectMeta
}

/** An object of a kind that has a spec and a status. */
export interface Resource<Spec, Status> extends KubeObject {
  spec: Spec
  status?: Status
}

/** `metav1.Condition`. */
export interface Condition {
  type: string
  status: 'True' | 'False' | 'Unknown'
  reason: string
  message: string
  lastTransitionTime: string
  observedGeneration?: number | undefined
}

/** Where a kind lives in the API, and (in its type parameter only) what its objects look like. */
export interface ResourceType<T extends KubeObject> {
  /** `v1`, `batch/v1`, `graphwright.dev/v1alpha1` */
  readonly apiVersion: string
  readonly kind: string
  /** Lower-case plural of the URL. */
  readonly plural: string
  readonly namespaced: boolean
  /** True where an object's content stays what it was created with: the server adds no defaults, and nobody may change it. */
  readonly keepsContent?: boolean
  /** Carries `T`; never set. */
  readonly example?: T
}

/** Names a kind as kubectl and RBAC do: `jobs.batch`, `pods`. */
export function resourceOf({ apiVersion, plural }: Pick<ResourceType<KubeObject>, 'apiVersion' | 'plural'>): string {
  const [group, version] = apiVersion.split('/')
  return version === undefined ? plural : `${plural}.${group}`
}

/** Names one object of one kind. */
export interface ObjectRef {
  readonly apiVersion: string
  readonly kind: string
  readonly namespace?: string
  readonly name: string
  /** Where given, the operation applies to this very object and fails if another one has its name now. */
  readonly uid?: string
}

/** `namespace/name`, or the name alone for a cluster-scoped object: the key of work queues and stores. */
export type ObjectKey = string

/** Key of an object by its metadata. */
export function keyOf(metadata: { readonly name: string; readonly namespace?: string }): ObjectKey {
  return metadata.namespace === undefined ? metadata.name : `${metadata.namespace}/${metadata.name}`
}

/** What an object is named by. */
export interface Identified {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly name: string; readonly namespace?: string; readonly uid?: string }
}

/** Names this very object. */
export function refOf({ apiVersion, kind, metadata }: Identified): ObjectRef {
  const { name, uid } = metadata
  return { apiVersion, kind, name, ...namespaceOf(metadata), ...(uid !== undefined && { uid }) }
}

/** The namespace of an object, to be spread into what is beside it; nothing where it is cluster-scoped. */
export function namespaceOf({ namespace }: { readonly namespace?: string | undefined }): { namespace?: string } {
  return namespace === undefined ? {} : { namespace }
}
