import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { RecordedReport, ResultReport, RunSelf } from '../../src/api/run-api.ts'
import { createApp } from '../../src/gateway/app.ts'
import type { Authenticator, Caller } from '../../src/gateway/callers.ts'
import { ContentFiles } from '../../src/gateway/contents.ts'
import { ApiError } from '../../src/gateway/errors.ts'
import type { NoticeTarget } from '../../src/gateway/notices.ts'
import { outcomeOf, recordedOf, resultOf, sameResult } from '../../src/gateway/result.ts'
import type { RunService } from '../../src/gateway/runs.ts'
import { GatewayServer } from '../../src/gateway/server.ts'
import { type Logger, silentLogger } from '../../src/runtime/log.ts'
import { type LocalCertificates, localCertificates } from './certificates.ts'
import { temporaryFolder } from './temporary-folder.ts'

/** The namespace that the operator of a {@link LocalGateway} is installed in. */
export const operatorNamespace = 'graphwright-system'

export const podCaller: Caller = {
  namespace: 'team-a',
  serviceAccount: 'graphwright-runner',
  podName: 'work-x7k2p',
  podUID: 'b5f6a3c2-0000-4000-8000-000000000001',
}

export const managerCaller: Caller = {
  namespace: operatorNamespace,
  serviceAccount: 'graphwright-manager',
  podName: 'graphwright-manager-0',
  podUID: 'b5f6a3c2-0000-4000-8000-000000000002',
}

/** Knows the tokens it is given. */
export class KnownTokens implements Authenticator {
  readonly #callers: ReadonlyMap<string, Caller>

  constructor(callers: Readonly<Record<string, Caller>>) {
    this.#callers = new Map(Object.entries(callers))
  }

  async authenticate(token: string): Promise<Caller> {
    const caller = this.#callers.get(token)
    if (caller === undefined) throw new ApiError('auth.invalid_token', 'token_rejected', 'unknown token')
    return caller
  }
}

/** One run, kept in memory by the rules of the gateway, with trouble to order. */
export class OneRun implements RunService {
  input: RunSelf
  recorded: ReturnType<typeof resultOf> | undefined
  /** Thrown by the next requests, one each. */
  readonly trouble: Error[] = []
  /** Requests seen, troubled ones among them. */
  requests = 0

  constructor(input: Partial<RunSelf> = {}) {
    const run = { name: 'triage-1', namespace: podCaller.namespace }
    this.input = {
      run,
      session: 'triage',
      step: 'triage',
      attempt: 0,
      prompt: 'go',
      event: null,
      bindings: {},
      ...input,
    }
  }

  async self(): Promise<RunSelf> {
    this.#next()
    return this.input
  }

  async report(_caller: Caller, report: ResultReport): Promise<RecordedReport> {
    this.#next()
    const outcome = outcomeOf(report)
    if (this.recorded !== undefined && !sameResult(this.recorded, outcome)) {
      throw new ApiError('validation.conflict', 'result_recorded', 'another result is on record')
    }
    const run = { apiVersion: '', kind: '', metadata: { name: '' }, spec: {}, status: {} }
    this.recorded ??= resultOf(outcome, run as never, new Date())
    return recordedOf(this.recorded)
  }

  async readContent(): Promise<Uint8Array> {
    throw new ApiError('content.missing', 'content_not_named', 'nothing named')
  }

  async writeContent(): Promise<void> {}

  #next(): void {
    this.requests++
    const error = this.trouble.shift()
    if (error !== undefined) throw error
  }
}

export interface LocalGateway {
  readonly url: string
  readonly port: number
  readonly certificates: LocalCertificates
  readonly server: GatewayServer
  readonly contents: ContentFiles
  /** File with the token of {@link podCaller}. */
  readonly podTokenFile: string
  /** File with the token of {@link managerCaller}. */
  readonly managerTokenFile: string
}

export interface LocalGatewayOptions {
  readonly runs?: RunService
  readonly certificates?: LocalCertificates
  readonly port?: number
  readonly folder?: string
  readonly log?: Logger
  readonly notices?: NoticeTarget
}

/** The gateway's real server over TLS on this machine, with its real content store; ends with the test. */
export async function startLocalGateway(options: LocalGatewayOptions = {}): Promise<LocalGateway> {
  const folder = options.folder ?? temporaryFolder()
  const certificates = options.certificates ?? (await localCertificates())
  const contents = await ContentFiles.open(join(folder, 'contents'))
  const authenticator = new KnownTokens({ 'pod-token': podCaller, 'manager-token': managerCaller })
  const runs = options.runs ?? new OneRun()
  const app = createApp({
    authenticator,
    runs,
    contents,
    namespace: operatorNamespace,
    notices: options.notices,
    log: options.log ?? silentLogger,
  })
  const server = await GatewayServer.start({
    fetch: (request) => app.fetch(request),
    certificate: certificates.serving,
    host: '127.0.0.1',
    port: options.port ?? 0,
  })
  onTestFinished(() => server.stop(0))
  return {
    url: `https://localhost:${server.port}`,
    port: server.port,
    certificates,
    server,
    contents,
    podTokenFile: tokenFile(folder, 'pod-token'),
    managerTokenFile: tokenFile(folder, 'manager-token'),
  }
}

/** As the kubelet writes it, with a newline that does not belong to the token. */
function tokenFile(folder: string, token: string): string {
  const path = join(folder, `${token}.txt`)
  writeFileSync(path, `${token}\n`)
  return path
}
