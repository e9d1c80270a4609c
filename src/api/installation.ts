/** Names of the operator's own objects in the namespace that it is installed in. The chart uses the same names. */
export const installation = {
  managerServiceAccount: 'graphwright-manager',
  gatewayService: 'graphwright-gateway',
  /** Certificate and key of the operator's CA. Read and written by the manager alone. */
  caSecret: 'graphwright-ca',
  /** Serving certificate of the gateway. Written by the manager, read by the gateway. */
  gatewayTlsSecret: 'graphwright-gateway-tls',
  /** Lease that the managers elect their leader by. */
  managerLease: 'graphwright-manager',
} as const
