import type { JobSettings } from '../../src/reconcilers/run/job-settings.ts'

/** Settings of a manager for tests in which no pod really runs. */
export const jobSettings: JobSettings = {
  gateway: {
    url: 'https://graphwright-gateway.graphwright-system.svc:8443',
    host: 'graphwright-gateway.graphwright-system.svc',
    clusterIP: '10.96.0.40',
    caPem: '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n',
  },
  runnerImage: 'registry.example/graphwright:1',
  isolationProbes: [{ host: '10.96.0.1', port: 443 }],
  jobRetentionSeconds: 600,
}
