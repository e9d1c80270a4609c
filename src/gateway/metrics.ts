import { Counter, Gauge, Histogram } from 'prom-client'
import type { Metrics } from '../runtime/metrics.ts'
import type { AppOptions } from './app.ts'
import type { ContentFiles } from './contents.ts'
import type { Gateway } from './gateway.ts'

/** Counts and times the answers of the gateway. */
export function answerMetrics(metrics: Metrics): NonNullable<AppOptions['onAnswer']> {
  const registers = [metrics.registry]
  const requests = new Counter({
    name: 'graphwright_gateway_requests_total',
    help: 'Requests answered.',
    labelNames: ['route', 'method', 'code'],
    registers,
  })
  const seconds = new Histogram({
    name: 'graphwright_gateway_request_duration_seconds',
    help: 'Time from a request to its answer.',
    labelNames: ['route', 'method'],
    buckets: [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers,
  })
  return ({ route, method, status, seconds: took }) => {
    requests.inc({ route, method, code: String(status) })
    seconds.observe({ route, method }, took)
  }
}

/** What an alert needs: a full volume refuses every large output. */
export function watchSpace({ registry }: Metrics, contents: ContentFiles): void {
  new Gauge({
    name: 'graphwright_gateway_contents_size_bytes',
    help: 'Size of the volume of the content store.',
    registers: [registry],
    async collect() {
      this.set((await contents.space()).sizeBytes)
    },
  })
  new Gauge({
    name: 'graphwright_gateway_contents_free_bytes',
    help: 'Free bytes of the volume of the content store.',
    registers: [registry],
    async collect() {
      this.set((await contents.space()).freeBytes)
    },
  })
}

/** The watch on Runs, and when the certificates end that pods trust. */
export function watchGateway(metrics: Metrics, gateway: Gateway): void {
  metrics.watchSilences(() => gateway.silences())
  const help = 'Unix time at which a certificate ends: the one that is served, or the CA beside it.'
  metrics.watch('graphwright_gateway_certificate_expiry_timestamp_seconds', help, ['certificate'], () =>
    [...gateway.certificateEnds()].map(([certificate, end]) => ({
      labels: { certificate },
      value: end.getTime() / 1000,
    })),
  )
}
