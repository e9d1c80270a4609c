import { parseArgs } from 'node:util'
import { automationFiring } from '../api/automation-firing.ts'
import { run as runKind } from '../api/run.ts'
import { gatewayPort } from '../api/run-api.ts'
import { session } from '../api/session.ts'
import { ContentFiles } from '../gateway/contents.ts'
import { Gateway } from '../gateway/gateway.ts'
import { answerMetrics, watchGateway, watchSpace } from '../gateway/metrics.ts'
import { NoticePost } from '../gateway/notices.ts'
import { KubeClient } from '../kube/client.ts'
import { loadKubeConfig } from '../kube/config.ts'
import { coreTypes } from '../kube/core-types.ts'
import { Transport } from '../kube/transport.ts'
import { version } from '../lib/version.ts'
import { systemClock } from '../runtime/clock.ts'
import { startHealthServer } from '../runtime/health.ts'
import { createLogger, type LogLevel } from '../runtime/log.ts'
import { Metrics } from '../runtime/metrics.ts'
import { Shutdown } from '../runtime/shutdown.ts'
import { logLevelOf, namespacesOf, ownNamespace, portOf } from './flags.ts'

interface Flags {
  readonly dataDir: string
  readonly port: number
  readonly metricsPort: number
  readonly logLevel: LogLevel
  readonly namespace: string
  readonly namespaces: readonly string[]
}

const graceMillis = 15_000

/** `graphwright gateway`: serves until it is told to end. */
export async function run(args: readonly string[]): Promise<void> {
  const flags = parseFlags(args)
  const log = createLogger({ level: flags.logLevel, base: { process: 'gateway', version } })
  const shutdown = new Shutdown({ log })
  const metrics = new Metrics()
  const transport = new Transport(loadKubeConfig(), { onAnswer: (method, code) => metrics.requested(method, code) })
  const client = new KubeClient(transport, [...coreTypes, runKind, session, automationFiring])
  const contents = await ContentFiles.open(flags.dataDir)
  const address = process.env.GRAPHWRIGHT_NOTICES_URL
  const notices = address === undefined || address === '' ? undefined : new NoticePost(address)
  const gateway = new Gateway({
    client,
    contents,
    notices,
    namespace: flags.namespace,
    namespaces: flags.namespaces,
    port: flags.port,
    clock: systemClock,
    log,
    onAnswer: answerMetrics(metrics),
    onWatchRestart: (kind, reason) => metrics.watchRestarted(kind, reason),
  })
  watchSpace(metrics, contents)
  watchGateway(metrics, gateway)
  const health = await startHealthServer({
    port: flags.metricsPort,
    ready: () => gateway.problems(),
    limits: () => gateway.limits(),
    metrics: metrics.registry,
  })
  shutdown.add('requests', () => gateway.stop(graceMillis))
  shutdown.add('notices', async () => notices?.close())
  shutdown.add('health', () => health.close())
  shutdown.add('api server', () => transport.close())
  await gateway.start()
}

function parseFlags(args: readonly string[]): Flags {
  const { values } = parseArgs({
    args: [...args],
    options: {
      namespaces: { type: 'string' },
      'data-dir': { type: 'string', default: '/var/lib/graphwright' },
      port: { type: 'string', default: String(gatewayPort) },
      'metrics-port': { type: 'string', default: '8080' },
      'log-level': { type: 'string', default: 'info' },
    },
  })
  return {
    dataDir: values['data-dir'],
    port: portOf('--port', values.port),
    metricsPort: portOf('--metrics-port', values['metrics-port']),
    logLevel: logLevelOf(values['log-level']),
    namespace: ownNamespace(),
    namespaces: namespacesOf('--namespaces', values.namespaces),
  }
}
