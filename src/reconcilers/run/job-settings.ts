/** How the pods of runs reach the gateway. */
export interface GatewayAddress {
  /** `https://graphwright-gateway.graphwright-system.svc:8443` */
  readonly url: string
  /** Host name in that URL: the one its certificate is for. */
  readonly host: string
  /** Address of its Service: an isolated pod has no DNS. */
  readonly clusterIP: string
  /** PEM of the CA that signs its certificate. */
  readonly caPem: string
}

/** A TCP address. */
export interface Endpoint {
  readonly host: string
  readonly port: number
}

/** What the Jobs of every run have in common. */
export interface JobSettings {
  readonly gateway: GatewayAddress
  /** Image of the containers `input` and `runner`. */
  readonly runnerImage: string
  /** What an isolated pod must fail to reach in every workspace: the API server by its ClusterIP. */
  readonly isolationProbes: readonly Endpoint[]
  /** Seconds that a finished Job, and with it the log of its pod, is kept. */
  readonly jobRetentionSeconds: number
}

export const defaultJobRetentionSeconds = 600
