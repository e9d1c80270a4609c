/**
 * The run API: what a job pod and the gateway say to each other over HTTPS, and where the containers of a pod find
 * things. The pod presents its projected token (audience {@link gatewayAudience}) as a bearer token.
 */

/** Audience of the tokens that pods and the manager present to the gateway. */
export const gatewayAudience = 'graphwright'

/** Paths of the run API. */
export const runApiPaths = {
  self: '/runs/v1/self',
  result: '/runs/v1/self/result',
  blobs: '/runs/v1/blobs',
} as const

/** Path under which the manager reads and writes the content store. */
export const internalBlobsPath = '/internal/v1/blobs'

/** Port of the gateway's Service and of its container. */
export const gatewayPort = 8443

/** Answer of `GET /runs/v1/self`: the frozen input of the run that the pod works for. */
export interface RunSelf {
  readonly run: { readonly name: string; readonly namespace: string }
  readonly session: string
  readonly step: string
  readonly attempt: number
  /** The rendered message. */
  readonly prompt: string
  /** The event as JSON, null where the firing has none. */
  readonly event: unknown
  /** JSON texts by input name. */
  readonly bindings: Readonly<Record<string, string>>
}

/** Why the result file of a pod could not be taken. */
export const outputErrors = ['output_not_utf8', 'output_too_large', 'output_not_a_file', 'output_unreadable'] as const
export type OutputError = (typeof outputErrors)[number]

/** Body of `POST /runs/v1/self/result`. */
export type ResultReport = { readonly output: string } | { readonly error: OutputError }

/** Answer of `POST /runs/v1/self/result`: what is on record now. */
export interface RecordedReport {
  readonly digest: string
  readonly size: number
  readonly error?: string
  readonly reportedAt: string
}

/** Body of every answer that is no success. */
export interface ErrorBody {
  readonly error: {
    /** What went wrong, stable, for programs: `run.fenced`. */
    readonly type: string
    /** The exact cause, stable: `pod_replaced`. */
    readonly code: string
    /** For people. */
    readonly message: string
    readonly requestId: string
  }
}

/** Largest output of a run, in bytes of UTF-8. */
export const outputLimitBytes = 1024 * 1024

/** Containers of a pod, in the order in which they start. */
export const containerNames = {
  /**
   * Native sidecar: takes the result to the gateway once the main container has ended. It starts first, because it is
   * told by a SIGTERM, and the kernel drops the signals that reach the first process of a container before that listens.
   */
  runner: 'runner',
  /** Fetches the input and, where the pod is isolated, proves that it is; then exits. */
  input: 'input',
  /** Main container: the user's image and command, without the token. */
  agent: 'agent',
} as const

/**
 * Grace period of a pod: the sidecar has so long to report the result, and gives up a little earlier so that it can still
 * say why. Whoever cancels waits for two minutes: a command that does not listen is killed before that.
 */
export const podGraceSeconds = 100

/** Files that the containers of a pod share. */
export const podPaths = {
  input: '/graphwright/input',
  output: '/graphwright/output',
  result: '/graphwright/output/result',
  token: '/var/run/graphwright/token',
  terminationLog: '/dev/termination-log',
} as const

/** Environment variables of the containers `input` and `runner`. */
export const runnerEnv = {
  /** `https://graphwright-gateway.NAMESPACE.svc:8443` */
  gatewayUrl: 'GRAPHWRIGHT_GATEWAY_URL',
  /** PEM of the CA (or CAs) that the gateway's certificate is checked against. */
  gatewayCa: 'GRAPHWRIGHT_GATEWAY_CA',
  /** `host:port,host:port`: what an isolated pod must fail to reach. Absent or empty: no check. */
  isolationProbes: 'GRAPHWRIGHT_ISOLATION_PROBES',
} as const

/** Exit codes of the containers `input` and `runner`. The termination message begins with the name and a colon. */
export const runnerExits = {
  /** The pod reaches what it must not (10 seconds long). */
  NetworkNotIsolated: 86,
  /** The gateway refuses this pod for good: fenced, settled, or not a pod of a run. */
  Refused: 87,
  /** The gateway could not be reached, or did not know the pod, for as long as was waited. */
  GatewayUnreachable: 88,
} as const
export type RunnerExit = keyof typeof runnerExits
