import type { KubeObject, Resource, ResourceType } from '../lib/object.ts'

/**
 * Built-in kinds, narrowed to the fields that the project reads or writes. Times are texts, as on the wire. What is
 * written whole but never read back field by field (volumes, security contexts) is left open.
 */
type Open = { [field: string]: unknown }

export interface EnvVar {
  name: string
  value?: string
  valueFrom?: Open
}

export interface Container {
  name: string
  image: string
  command?: string[]
  args?: string[]
  workingDir?: string
  env?: EnvVar[]
  envFrom?: Open[]
  ports?: { name?: string; containerPort: number; protocol?: string }[]
  resources?: { requests?: Record<string, string>; limits?: Record<string, string> }
  volumeMounts?: { name: string; mountPath: string; subPath?: string; readOnly?: boolean }[]
  imagePullPolicy?: 'Always' | 'IfNotPresent' | 'Never'
  securityContext?: Open
  startupProbe?: Open
  readinessProbe?: Open
  livenessProbe?: Open
  terminationMessagePolicy?: 'File' | 'FallbackToLogsOnError'
  /** `Always` in an init container makes it a native sidecar. */
  restartPolicy?: 'Always'
}

export interface PodSpec {
  containers: Container[]
  initContainers?: Container[]
  restartPolicy?: 'Always' | 'OnFailure' | 'Never'
  serviceAccountName?: string
  automountServiceAccountToken?: boolean
  enableServiceLinks?: boolean
  shareProcessNamespace?: boolean
  terminationGracePeriodSeconds?: number
  activeDeadlineSeconds?: number
  nodeName?: string
  nodeSelector?: Record<string, string>
  priorityClassName?: string
  runtimeClassName?: string
  securityContext?: Open
  tolerations?: Open[]
  affinity?: Open
  imagePullSecrets?: { name: string }[]
  volumes?: ({ name: string } & Open)[]
  dnsPolicy?: string
  dnsConfig?: Open
  hostAliases?: Open[]
}

export interface ContainerState {
  waiting?: { reason?: string; message?: string }
  running?: { startedAt?: string }
  terminated?: {
    exitCode: number
    signal?: number
    reason?: string
    message?: string
    startedAt?: string
    finishedAt?: string
  }
}

export interface ContainerStatus {
  name: string
  image?: string
  imageID?: string
  ready?: boolean
  started?: boolean
  restartCount?: number
  state?: ContainerState
  lastState?: ContainerState
}

/** A condition of a built-in kind: unlike `metav1.Condition`, reason and message may be missing. */
export interface BuiltinCondition {
  type: string
  status: 'True' | 'False' | 'Unknown'
  reason?: string
  message?: string
  lastTransitionTime?: string
}

export interface PodStatus {
  phase?: 'Pending' | 'Running' | 'Succeeded' | 'Failed' | 'Unknown'
  reason?: string
  message?: string
  podIP?: string
  podIPs?: { ip: string }[]
  hostIP?: string
  startTime?: string
  conditions?: BuiltinCondition[]
  initContainerStatuses?: ContainerStatus[]
  containerStatuses?: ContainerStatus[]
}

export type Pod = Resource<PodSpec, PodStatus>

export interface PodTemplate {
  metadata?: { labels?: Record<string, string>; annotations?: Record<string, string> }
  spec: PodSpec
}

export interface JobSpec {
  template: PodTemplate
  backoffLimit?: number
  completions?: number
  parallelism?: number
  activeDeadlineSeconds?: number
  ttlSecondsAfterFinished?: number
  suspend?: boolean
}

export interface JobStatus {
  active?: number
  ready?: number
  succeeded?: number
  failed?: number
  terminating?: number
  startTime?: string
  completionTime?: string
  conditions?: BuiltinCondition[]
  uncountedTerminatedPods?: { succeeded?: string[]; failed?: string[] }
}

export type Job = Resource<JobSpec, JobStatus>

export interface ServiceAccount extends KubeObject {
  automountServiceAccountToken?: boolean
  imagePullSecrets?: { name: string }[]
}

export interface Secret extends KubeObject {
  type?: string
  immutable?: boolean
  /** Values in base64. */
  data?: Record<string, string>
}

export interface ConfigMap extends KubeObject {
  immutable?: boolean
  data?: Record<string, string>
  /** Values in base64. */
  binaryData?: Record<string, string>
}

export interface ServiceSpec {
  type?: 'ClusterIP' | 'NodePort' | 'LoadBalancer' | 'ExternalName'
  clusterIP?: string
  selector?: Record<string, string>
  ports?: { name?: string; port: number; targetPort?: number | string; protocol?: string }[]
}

export type Service = Resource<ServiceSpec, Open>

export interface LabelSelector {
  matchLabels?: Record<string, string>
  matchExpressions?: { key: string; operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist'; values?: string[] }[]
}

export interface NetworkPolicyPeer {
  podSelector?: LabelSelector
  namespaceSelector?: LabelSelector
  ipBlock?: { cidr: string; except?: string[] }
}

export interface NetworkPolicyPort {
  protocol?: 'TCP' | 'UDP' | 'SCTP'
  port?: number | string
  endPort?: number
}

export interface NetworkPolicySpec {
  podSelector: LabelSelector
  policyTypes?: ('Ingress' | 'Egress')[]
  ingress?: { from?: NetworkPolicyPeer[]; ports?: NetworkPolicyPort[] }[]
  egress?: { to?: NetworkPolicyPeer[]; ports?: NetworkPolicyPort[] }[]
}

export interface NetworkPolicy extends KubeObject {
  spec: NetworkPolicySpec
}

export interface Namespace extends KubeObject {
  spec?: { finalizers?: string[] }
  status?: { phase?: 'Active' | 'Terminating' }
}

export interface ObjectReference {
  apiVersion?: string
  kind?: string
  name?: string
  namespace?: string
  uid?: string
  resourceVersion?: string
  fieldPath?: string
}

/** `events.k8s.io/v1`. */
export interface Event extends KubeObject {
  /** {@link microTime} */
  eventTime: string
  type: 'Normal' | 'Warning'
  reason: string
  action: string
  note?: string
  regarding?: ObjectReference
  related?: ObjectReference
  reportingController: string
  reportingInstance: string
  series?: { count: number; lastObservedTime: string }
}

export interface LeaseSpec {
  holderIdentity?: string
  leaseDurationSeconds?: number
  /** {@link microTime} */
  acquireTime?: string
  /** {@link microTime} */
  renewTime?: string
  leaseTransitions?: number
}

export interface Lease extends KubeObject {
  spec?: LeaseSpec
}

export interface UserInfo {
  username: string
  uid?: string
  groups?: string[]
  extra?: Record<string, string[]>
}

/** A virtual kind: created, never stored; its metadata is empty. */
export interface TokenReview extends KubeObject {
  spec: { token: string; audiences?: string[] }
  status?: { authenticated?: boolean; user?: UserInfo; audiences?: string[]; error?: string }
}

export interface ResourceAttributes {
  namespace?: string
  verb: string
  group?: string
  version?: string
  resource: string
  subresource?: string
  name?: string
}

export interface SubjectAccessReview extends KubeObject {
  spec: {
    user?: string
    uid?: string
    groups?: string[]
    extra?: Record<string, string[]>
    resourceAttributes?: ResourceAttributes
    nonResourceAttributes?: { path?: string; verb?: string }
  }
  status?: { allowed: boolean; denied?: boolean; reason?: string; evaluationError?: string }
}

/** Posted to the `token` subresource of a ServiceAccount. */
export interface TokenRequest extends KubeObject {
  spec: {
    audiences: string[]
    expirationSeconds?: number
    boundObjectRef?: { apiVersion: string; kind: string; name: string; uid?: string }
  }
  status?: { token: string; expirationTimestamp: string }
}

export const podType: ResourceType<Pod> = { apiVersion: 'v1', kind: 'Pod', plural: 'pods', namespaced: true }
export const jobType: ResourceType<Job> = { apiVersion: 'batch/v1', kind: 'Job', plural: 'jobs', namespaced: true }
export const serviceAccountType: ResourceType<ServiceAccount> = {
  apiVersion: 'v1',
  kind: 'ServiceAccount',
  plural: 'serviceaccounts',
  namespaced: true,
}
export const secretType: ResourceType<Secret> = {
  apiVersion: 'v1',
  kind: 'Secret',
  plural: 'secrets',
  namespaced: true,
}
export const configMapType: ResourceType<ConfigMap> = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  plural: 'configmaps',
  namespaced: true,
}
export const serviceType: ResourceType<Service> = {
  apiVersion: 'v1',
  kind: 'Service',
  plural: 'services',
  namespaced: true,
}
export const networkPolicyType: ResourceType<NetworkPolicy> = {
  apiVersion: 'networking.k8s.io/v1',
  kind: 'NetworkPolicy',
  plural: 'networkpolicies',
  namespaced: true,
}
export const namespaceType: ResourceType<Namespace> = {
  apiVersion: 'v1',
  kind: 'Namespace',
  plural: 'namespaces',
  namespaced: false,
}
export const eventType: ResourceType<Event> = {
  apiVersion: 'events.k8s.io/v1',
  kind: 'Event',
  plural: 'events',
  namespaced: true,
}
export const leaseType: ResourceType<Lease> = {
  apiVersion: 'coordination.k8s.io/v1',
  kind: 'Lease',
  plural: 'leases',
  namespaced: true,
}
export const tokenReviewType: ResourceType<TokenReview> = {
  apiVersion: 'authentication.k8s.io/v1',
  kind: 'TokenReview',
  plural: 'tokenreviews',
  namespaced: false,
}
export const subjectAccessReviewType: ResourceType<SubjectAccessReview> = {
  apiVersion: 'authorization.k8s.io/v1',
  kind: 'SubjectAccessReview',
  plural: 'subjectaccessreviews',
  namespaced: false,
}

/** Who the API server knows the client as (KEP-3325). */
export interface SelfSubjectReview extends KubeObject {
  status?: { userInfo?: UserInfo }
}
export const selfSubjectReviewType: ResourceType<SelfSubjectReview> = {
  apiVersion: 'authentication.k8s.io/v1',
  kind: 'SelfSubjectReview',
  plural: 'selfsubjectreviews',
  namespaced: false,
}

/** All of the above, for a client. */
export const coreTypes: readonly ResourceType<KubeObject>[] = [
  podType,
  jobType,
  serviceAccountType,
  secretType,
  configMapType,
  serviceType,
  networkPolicyType,
  namespaceType,
  eventType,
  leaseType,
  tokenReviewType,
  selfSubjectReviewType,
  subjectAccessReviewType,
]
