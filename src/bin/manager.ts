import { randomUUID } from 'node:crypto'
import { isIP } from 'node:net'
import { hostname } from 'node:os'
import { parseArgs } from 'node:util'
import { automation } from '../api/automation.ts'
import { installation } from '../api/installation.ts'
import { kinds } from '../api/kinds.ts'
import { fieldManagers } from '../api/labels.ts'
import { gatewayPort, podPaths } from '../api/run-api.ts'
import { addControllers, type ControllerDependencies } from '../controllers/all.ts'
import { KubeClient } from '../kube/client.ts'
import { loadKubeConfig } from '../kube/config.ts'
import { coreTypes, leaseType, serviceType } from '../kube/core-types.ts'
import { electionTiming } from '../kube/election.ts'
import { EventRecorder } from '../kube/events.ts'
import { whoAmI } from '../kube/identity.ts'
import { KubeLease } from '../kube/lease.ts'
import type { TimedAnswer } from '../kube/server-clock.ts'
import { Transport } from '../kube/transport.ts'
import { version } from '../lib/version.ts'
import { censusOf } from '../reconcilers/automation/census.ts'
import { defaultJobRetentionSeconds, type JobSettings } from '../reconcilers/run/job-settings.ts'
import { confirmCertificates, ensureCertificates, keepCertificates } from '../runtime/certificates.ts'
import { type Clock, systemClock } from '../runtime/clock.ts'
import { guardClock } from '../runtime/clock-guard.ts'
import { ContentClient } from '../runtime/content-client.ts'
import { Elector } from '../runtime/elector.ts'
import { GatewayConnection } from '../runtime/gateway-connection.ts'
import { startHealthServer } from '../runtime/health.ts'
import { Leadership, type LeadershipOptions } from '../runtime/leadership.ts'
import { createLogger, type Logger, type LogLevel } from '../runtime/log.ts'
import { Manager, type ManagerOptions } from '../runtime/manager.ts'
import { Metrics } from '../runtime/metrics.ts'
import { GatewayNotices } from '../runtime/notices.ts'
import { WorkerSchemaValidator } from '../runtime/schema-validator.ts'
import { Shutdown } from '../runtime/shutdown.ts'
import { logLevelOf, namespacesOf, ownNamespace, portOf } from './flags.ts'

interface Flags {
  readonly gatewayUrl: string
  readonly runnerImage: string
  /** The only ones that are served; none: all. */
  readonly namespaces: readonly string[]
  readonly tokenFile: string
  readonly metricsPort: number
  readonly logLevel: LogLevel
  readonly namespace: string
  readonly leaderElect: boolean
  readonly leaseNamespace: string
  /** The gateway has an address for notices. */
  readonly notices: boolean
}

/** What only tests set. */
type TestOptions = Partial<Pick<ManagerOptions, 'faults' | 'clock'> & Pick<ControllerDependencies, 'pruning'>> & {
  readonly machine?: Clock
}

/**
 * `graphwright manager`: runs all controllers until it is told to end.
 * @param options.faults for crash tests, which end the process at a write of their choice
 * @param options.machine the clock of the machine; certificates and leases always go by {@link systemClock}
 * @param options.clock what the controllers go by; default the machine's, under the guard of the API server's
 * @param options.pruning for tests, which cannot wait until names are let go
 */
export async function run(args: readonly string[], options: TestOptions = {}): Promise<void> {
  const { pruning, machine = systemClock, ...managerOptions } = options
  const flags = parseFlags(args)
  const log = createLogger({ level: flags.logLevel, base: { process: 'manager', version } })
  const shutdown = new Shutdown({ log })
  const metrics = new Metrics()
  const { namespace, namespaces } = flags
  const connection = connect(flags, { machine, log, metrics, caPem: () => caPem })
  const { client, clock, events, leadership } = connection
  const manager = new Manager({
    clock,
    ...managerOptions,
    client,
    log,
    metrics,
    events,
    ...(namespaces.length > 0 && { namespaces }),
    ...(leadership !== undefined && { leadership }),
  })
  const health = await startHealthServer({
    port: flags.metricsPort,
    ready: () => manager.problems(),
    limits: () => manager.limits(),
    metrics: metrics.registry,
  })
  const schemas = new WorkerSchemaValidator()
  schemas.warm()
  const { caPem } = await ensureCertificates(client, { namespace, clock: systemClock })
  const gateway = new GatewayConnection({ url: flags.gatewayUrl, caPem, tokenFile: flags.tokenFile })
  const notices = flags.notices ? new GatewayNotices({ gateway, clock: systemClock, log }) : undefined
  addControllers(manager, {
    approver: await whoAmI(client),
    contents: new ContentClient({ gateway, clock: systemClock }),
    schemas,
    jobs: await jobSettings(client, flags, caPem),
    operatorNamespace: namespace,
    notices,
    ...(pruning !== undefined && { pruning }),
  })
  countAutomations(manager, metrics)
  manager.addRunnable('certificates', async (signal) => {
    const onError = (error: unknown) => log.warn({ error }, 'certificates could not be checked, trying again')
    await keepCertificates(client, caPem, { namespace, clock: systemClock, signal, onError })
  })
  shutdown.add('controllers', () => manager.stop())
  shutdown.add('schemas', () => schemas.close())
  shutdown.add('notices', async () => notices?.stop())
  shutdown.add('gateway', () => gateway.close())
  shutdown.add('health', () => health.close())
  shutdown.add('api server', () => connection.close())
  await manager.start()
}

interface ConnectionOptions {
  readonly machine: Clock
  readonly log: Logger
  readonly metrics: Metrics
  /** The CA that this process goes by. Asked for when it is elected. */
  readonly caPem: () => string
}

/** How a manager reaches the API server, and what it learns from its answers: the time, and whether it leads. */
function connect(flags: Flags, { machine, log, metrics, caPem }: ConnectionOptions) {
  const onTime = (answer: TimedAnswer) => clock.hear(answer)
  const onAnswer = (method: string, code: number | '<error>') => metrics.requested(method, code)
  const transport = new Transport(loadKubeConfig(), { onAnswer, onTime })
  const client = new KubeClient(transport, [...coreTypes, ...kinds])
  const events = new EventRecorder(client, {
    controller: 'graphwright.dev/manager',
    instance: hostname(),
    onError: (message, error) => log.warn({ error, detail: message }, 'event was not recorded'),
  })
  // For the Lease alone: no list delays a renewal, and a dead connection is noticed before the lead is lost.
  const leases = new Transport(loadKubeConfig(), { pingMillis: electionTiming.attemptMillis, onAnswer, onTime })
  // What was learnt at the start may be weeks old when a process that stands by is elected.
  const beforeLead = async () => {
    await confirmCertificates(client, caPem(), { namespace: flags.namespace, clock: systemClock })
  }
  const leadership = flags.leaderElect ? leadershipOf(flags, leases, { log, metrics, events, beforeLead }) : undefined
  const clock = guardClock({
    machine,
    log,
    metrics,
    record: (regarding, event) => events.record(regarding, event),
    regarding: () => leadership?.ref,
  })
  const close = () => Promise.all([transport.close(), leases.close()]).then(() => {})
  return { client, clock, events, leadership, close }
}

function countAutomations(manager: Manager, metrics: Metrics): void {
  metrics.watch('graphwright_automations', 'Automations by what they are at.', ['state'], () =>
    [...censusOf(manager.read.list(automation))].map(([state, value]) => ({ labels: { state }, value })),
  )
}

function leadershipOf(flags: Flags, transport: Transport, options: Omit<LeadershipOptions, 'elector'>): Leadership {
  const lease = new KubeLease(new KubeClient(transport, [leaseType]), {
    namespace: flags.leaseNamespace,
    name: installation.managerLease,
    fieldManager: fieldManagers.manager,
  })
  const identity = `${hostname()}_${randomUUID()}`
  return new Leadership({ ...options, elector: new Elector({ lease, identity, clock: systemClock, log: options.log }) })
}

/** What every Job is told: where the gateway is, and what an isolated pod must fail to reach. */
async function jobSettings(client: KubeClient, flags: Flags, caPem: string): Promise<JobSettings> {
  const { namespace, gatewayUrl, runnerImage } = flags
  const gateway = await client.get(serviceType, { namespace, name: installation.gatewayService })
  return {
    gateway: {
      url: gatewayUrl,
      host: new URL(gatewayUrl).hostname,
      clusterIP: gateway.spec.clusterIP ?? '',
      caPem,
    },
    runnerImage,
    isolationProbes: [await apiServerAddress(client)],
    jobRetentionSeconds: defaultJobRetentionSeconds,
  }
}

/**
 * Where pods of this cluster find the API server. The kubelet tells every pod, so that no right outside the operator's
 * own namespaces is needed; where it tells a name, which an isolated pod could not look up, the Service is asked.
 */
async function apiServerAddress(client: KubeClient): Promise<{ host: string; port: number }> {
  const { KUBERNETES_SERVICE_HOST: host = '', KUBERNETES_SERVICE_PORT: port } = process.env
  if (isIP(host) !== 0) return { host, port: Number(port ?? 443) }
  const service = await client.get(serviceType, { namespace: 'default', name: 'kubernetes' })
  return { host: service.spec.clusterIP ?? '', port: 443 }
}

function parseFlags(args: readonly string[]): Flags {
  const namespace = ownNamespace()
  const { values } = parseArgs({
    args: [...args],
    options: {
      'gateway-url': {
        type: 'string',
        default: `https://${installation.gatewayService}.${namespace}.svc:${gatewayPort}`,
      },
      'runner-image': { type: 'string' },
      namespaces: { type: 'string' },
      'token-file': { type: 'string', default: podPaths.token },
      'metrics-port': { type: 'string', default: '8080' },
      'log-level': { type: 'string', default: 'info' },
      notices: { type: 'boolean', default: false },
      'leader-elect': { type: 'boolean', default: false },
      'leader-election-namespace': { type: 'string', default: namespace },
    },
  })
  const runnerImage = values['runner-image']
  if (runnerImage === undefined) throw new Error('--runner-image must name the image of this operator')
  return {
    gatewayUrl: values['gateway-url'],
    runnerImage,
    namespaces: namespacesOf('--namespaces', values.namespaces),
    tokenFile: values['token-file'],
    metricsPort: portOf('--metrics-port', values['metrics-port']),
    logLevel: logLevelOf(values['log-level']),
    namespace,
    leaderElect: values['leader-elect'],
    leaseNamespace: values['leader-election-namespace'],
    notices: values.notices,
  }
}
