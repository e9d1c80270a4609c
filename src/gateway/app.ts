import { randomUUID } from 'node:crypto'
import { type Context, Hono } from 'hono'
import { installation } from '../api/installation.ts'
import { internalNoticesPath } from '../api/notices.ts'
import { type ErrorBody, internalBlobsPath, outputLimitBytes, runApiPaths } from '../api/run-api.ts'
import type { Logger } from '../runtime/log.ts'
import { readBody, readJson } from './body.ts'
import type { Authenticator, Caller } from './callers.ts'
import { type Contents, contentLimitBytes } from './contents.ts'
import { ApiError, apiErrorOf } from './errors.ts'
import { type NoticeTarget, parseNotice } from './notices.ts'
import { parseReport } from './result.ts'
import type { RunService } from './runs.ts'

export interface AppOptions {
  readonly authenticator: Authenticator
  readonly runs: RunService
  readonly contents: Contents
  /** Where notices go; absent: nowhere, and the manager is told that there is no such route. */
  readonly notices?: NoticeTarget | undefined
  /** The namespace that the operator is installed in. */
  readonly namespace: string
  readonly log: Logger
  /** Told of every answer, for the metrics. */
  readonly onAnswer?: (answer: { route: string; method: string; status: number; seconds: number }) => void
}

interface Env {
  Variables: { requestId: string; caller: Caller }
}

/** JSON can make six bytes of one: the escape of a control character. */
const reportLimitBytes = 6 * outputLimitBytes + 1024

const noticeLimitBytes = 64 * 1024

/** All routes of the gateway. Who calls is settled before a body is read. */
export function createApp(options: AppOptions): Hono<Env> {
  const app = new Hono<Env>()
  app.use(async (c, next) => {
    const started = performance.now()
    c.set('requestId', randomUUID())
    await next()
    c.header('X-Request-Id', c.get('requestId'))
    tell(options, c, (performance.now() - started) / 1000)
  })
  app.onError((error, c) => answerError(error, c, options.log))
  app.notFound((c) => {
    const message = `the gateway has nothing at ${c.req.method} ${c.req.path}`
    return errorAnswer(c, new ApiError('validation.not_found', 'no_such_route', message))
  })

  const identify = async (c: Context<Env>, next: () => Promise<void>) => {
    c.set('caller', await options.authenticator.authenticate(bearerToken(c), c.req.raw.signal))
    await next()
  }
  app.use('/runs/*', identify)
  app.use('/internal/*', identify, async (c, next) => {
    if (!isManager(c.get('caller'), options.namespace)) {
      throw new ApiError('auth.forbidden', 'manager_only', 'this part of the gateway is for the operator alone')
    }
    await next()
  })
  addRunRoutes(app, options.runs)
  addManagerRoutes(app, options.contents)
  if (options.notices !== undefined) addNoticeRoute(app, options.notices)
  return app
}

function addRunRoutes(app: Hono<Env>, runs: RunService): void {
  app.get(runApiPaths.self, async (c) => c.json(await runs.self(c.get('caller'), c.req.raw.signal)))
  app.post(runApiPaths.result, async (c) => {
    const report = parseReport(await readJson(c.req.raw, reportLimitBytes))
    return c.json(await runs.report(c.get('caller'), report, c.req.raw.signal))
  })
  app.get(`${runApiPaths.blobs}/:digest`, async (c) => {
    return bytesAnswer(c, await runs.readContent(c.get('caller'), c.req.param('digest'), c.req.raw.signal))
  })
  app.put(`${runApiPaths.blobs}/:digest`, async (c) => {
    const bytes = await readBody(c.req.raw, outputLimitBytes)
    await runs.writeContent(c.get('caller'), c.req.param('digest'), bytes, c.req.raw.signal)
    return c.body(null, 204)
  })
}

function addManagerRoutes(app: Hono<Env>, contents: Contents): void {
  app.get(`${internalBlobsPath}/:digest`, async (c) => bytesAnswer(c, await contents.get(c.req.param('digest'))))
  app.put(`${internalBlobsPath}/:digest`, async (c) => {
    await contents.put(c.req.param('digest'), await readBody(c.req.raw, contentLimitBytes))
    return c.body(null, 204)
  })
}

function addNoticeRoute(app: Hono<Env>, notices: NoticeTarget): void {
  app.post(internalNoticesPath, async (c) => {
    await notices.send(parseNotice(await readJson(c.req.raw, noticeLimitBytes)), c.req.raw.signal)
    return c.body(null, 204)
  })
}

function isManager(caller: Caller, namespace: string): boolean {
  return caller.namespace === namespace && caller.serviceAccount === installation.managerServiceAccount
}

function bearerToken(c: Context<Env>): string {
  const [, token] = /^Bearer ([^\s]+)$/i.exec(c.req.header('Authorization') ?? '') ?? []
  if (token !== undefined) return token
  const message = 'the request has no bearer token; pods present the projected token that is mounted for the gateway'
  throw new ApiError('auth.invalid_token', 'token_missing', message)
}

function bytesAnswer(c: Context<Env>, bytes: Uint8Array): Response {
  return c.body(new Uint8Array(bytes), 200, { 'Content-Type': 'application/octet-stream' })
}

function answerError(thrown: unknown, c: Context<Env>, log: Logger): Response {
  const error = apiErrorOf(thrown)
  const fields = { requestId: c.get('requestId'), method: c.req.method, path: c.req.path, type: error.type }
  const caller = c.get('caller') as Caller | undefined
  const who = caller && { namespace: caller.namespace, pod: caller.podName }
  if (error.status >= 500) log.error({ ...fields, ...who, error: thrown }, 'request failed')
  else if (error.status !== 425) log.info({ ...fields, ...who, code: error.code }, 'request refused')
  return errorAnswer(c, error)
}

function errorAnswer(c: Context<Env>, error: ApiError): Response {
  const { type, code, message, retryAfterSeconds } = error
  if (retryAfterSeconds !== undefined) c.header('Retry-After', String(retryAfterSeconds))
  if (error.status === 401) c.header('WWW-Authenticate', 'Bearer')
  const body: ErrorBody = { error: { type, code, message, requestId: c.get('requestId') } }
  return c.json(body, error.status)
}

function tell(options: AppOptions, c: Context<Env>, seconds: number): void {
  const route = c.req.matchedRoutes.findLast(({ path }) => !path.includes('*'))?.path ?? 'none'
  const { method } = c.req
  options.onAnswer?.({ route, method, status: c.res.status, seconds })
  const who = c.get('caller') as Caller | undefined
  const fields = { requestId: c.get('requestId'), method, path: c.req.path, status: c.res.status, seconds }
  options.log.debug({ ...fields, namespace: who?.namespace, pod: who?.podName }, 'request answered')
}
