import { request } from 'undici'
import { afterEach, expect, test } from 'vitest'
import { type HealthServer, startHealthServer } from '../../../src/runtime/health.ts'
import { Metrics } from '../../../src/runtime/metrics.ts'
import { eventually } from '../../kit/eventually.ts'

let server: HealthServer | undefined
afterEach(async () => {
  await server?.close()
})

async function start(options: { ready?: () => string[]; limits?: () => string[]; eventLoopLimitMillis?: number } = {}) {
  const metrics = new Metrics()
  server = await startHealthServer({
    port: 0,
    host: '127.0.0.1',
    ready: () => [],
    metrics: metrics.registry,
    ...options,
  })
  return metrics
}

async function get(path: string, method: 'GET' | 'POST' = 'GET') {
  const { statusCode, body } = await request(`http://127.0.0.1:${server?.port}${path}`, { method })
  return { status: statusCode, body: await body.text() }
}

function blockEventLoop(millis: number) {
  const end = performance.now() + millis
  while (performance.now() < end);
}

test('a process in order is alive and ready', async () => {
  await start()
  expect(await get('/healthz')).toEqual({ status: 200, body: 'ok\n' })
  expect(await get('/readyz?verbose')).toEqual({ status: 200, body: 'ok\n' })
})

test('says what it cannot do although it is ready', async () => {
  await start({ limits: () => ['namespace team-b is not served'] })
  expect(await get('/readyz')).toEqual({ status: 200, body: 'ok\nnamespace team-b is not served\n' })
})

test('says what it is not ready for', async () => {
  await start({ ready: () => ['runs: not listed yet', 'jobs: not listed yet'] })
  expect(await get('/readyz')).toEqual({ status: 503, body: 'runs: not listed yet\njobs: not listed yet\n' })
  expect((await get('/healthz')).status).toBe(200)
})

test('an event loop that stood still for longer than the limit is not alive', async () => {
  await start({ eventLoopLimitMillis: 150 })
  expect((await get('/healthz')).status).toBe(200)
  const { body } = await eventually(async () => {
    blockEventLoop(250)
    const answer = await get('/healthz')
    return answer.status === 503 && answer
  })
  expect(body).toMatch(/event loop stood still for \d+ ms/)
})

test('serves metrics under the names of controller-runtime', async () => {
  const metrics = await start()
  metrics.reconciled('runs', 'success', 0.02)
  metrics.reconciled('runs', 'error', 0.02)
  metrics.stalled('runs')
  metrics.queue('runs').added()
  metrics.queue('runs').depth(3)
  metrics.requested('GET', 200)
  metrics.watchRestarted('Run', 'expired')
  metrics.ownWriteWaited('runs', 0.02)
  const { status, body } = await get('/metrics')
  expect(status).toBe(200)
  for (const line of [
    'controller_runtime_reconcile_total{controller="runs",result="success"} 1',
    'controller_runtime_reconcile_errors_total{controller="runs"} 1',
    'controller_runtime_terminal_reconcile_errors_total{controller="runs"} 1',
    'controller_runtime_reconcile_time_seconds_bucket{le="0.025",controller="runs"} 2',
    'workqueue_depth{name="runs"} 3',
    'workqueue_adds_total{name="runs"} 1',
    'rest_client_requests_total{method="GET",code="200"} 1',
    'graphwright_watch_restarts_total{kind="Run",reason="expired"} 1',
    'graphwright_own_write_wait_seconds_count{controller="runs"} 1',
    'nodejs_eventloop_lag_seconds',
  ]) {
    expect(body).toContain(line)
  }
})

test('knows no other path and no other method', async () => {
  await start()
  expect((await get('/')).status).toBe(404)
  expect((await get('/healthz', 'POST')).status).toBe(405)
})
