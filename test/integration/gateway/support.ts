import { request } from 'node:https'
import { type AutomationFiring, automationFiring } from '../../../src/api/automation-firing.ts'
import { kinds } from '../../../src/api/kinds.ts'
import { fieldManagers, runnerName } from '../../../src/api/labels.ts'
import { type Run, type RunStatus, run as runKind } from '../../../src/api/run.ts'
import { runApiPaths } from '../../../src/api/run-api.ts'
import { type Session, type SessionSpec, session as sessionKind } from '../../../src/api/session.ts'
import { ContentFiles } from '../../../src/gateway/contents.ts'
import { Gateway } from '../../../src/gateway/gateway.ts'
import type { KubeClient } from '../../../src/kube/client.ts'
import { type Pod, podType, serviceAccountType, type TokenRequest } from '../../../src/kube/core-types.ts'
import { isConflict } from '../../../src/kube/error.ts'
import type { ObjectMeta } from '../../../src/lib/object.ts'
import { ensureCertificates } from '../../../src/runtime/certificates.ts'
import { systemClock } from '../../../src/runtime/clock.ts'
import { silentLogger } from '../../../src/runtime/log.ts'
import { aFiring, aRun, aSession, unsaved } from '../../kit/builders.ts'
import { freshNamespace, testClient } from '../../kit/control-plane.ts'
import { installCrds } from '../../kit/crds.ts'

/** What came back over HTTPS. */
export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly text: string
}

export interface Call {
  readonly method?: string
  readonly token?: string
  readonly body?: unknown
  readonly bytes?: Buffer
}

export interface Target {
  readonly port: number
  /** Namespace of the installation. */
  readonly namespace: string
  readonly caPem: string
}

/** A request as a pod makes it: by the gateway's name in the cluster, trusting the operator's CA alone. */
export function callGateway(target: Target, path: string, what: Call = {}): Promise<Answer> {
  const body = what.bytes ?? (what.body === undefined ? undefined : Buffer.from(JSON.stringify(what.body)))
  const options = {
    host: '127.0.0.1',
    port: target.port,
    servername: `graphwright-gateway.${target.namespace}.svc`,
    ca: target.caPem,
    agent: false as const,
    path,
    method: what.method ?? 'GET',
    headers: what.token === undefined ? {} : { authorization: `Bearer ${what.token}` },
  }
  return new Promise((resolve, reject) => {
    const outgoing = request(options, async (incoming) => {
      const chunks: Buffer[] = []
      for await (const chunk of incoming) chunks.push(chunk)
      const text = Buffer.concat(chunks).toString()
      resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, text })
    })
    outgoing.on('error', reject)
    outgoing.end(body)
  })
}

/** A gateway in this process, on the real API server, with the certificate that the manager makes for it. */
export class GatewayUnderTest {
  readonly client: KubeClient
  readonly namespace: string
  readonly contents: ContentFiles
  readonly gateway: Gateway
  readonly #caPem: string

  private constructor(
    parts: Pick<GatewayUnderTest, 'client' | 'namespace' | 'contents' | 'gateway'> & { readonly caPem: string },
  ) {
    this.client = parts.client
    this.namespace = parts.namespace
    this.contents = parts.contents
    this.gateway = parts.gateway
    this.#caPem = parts.caPem
  }

  static async start(folder: string): Promise<GatewayUnderTest> {
    const client = testClient({ types: kinds })
    await installCrds(client)
    const namespace = await freshNamespace(client)
    const contents = await ContentFiles.open(folder)
    const options = { client, contents, namespace, clock: systemClock, log: silentLogger, recordWaitMillis: 300 }
    const gateway = new Gateway(options)
    const started = gateway.start()
    const { caPem } = await ensureCertificates(client, { namespace, clock: systemClock })
    await started
    return new GatewayUnderTest({ client, namespace, contents, gateway, caPem })
  }

  call(path: string, what: Call = {}): Promise<Answer> {
    return callGateway({ port: this.gateway.port, namespace: this.namespace, caPem: this.#caPem }, path, what)
  }

  self(token: string): Promise<Answer> {
    return this.call(runApiPaths.self, { token })
  }

  report(token: string, body: unknown): Promise<Answer> {
    return this.call(runApiPaths.result, { method: 'POST', token, body })
  }
}

/** Type and code of an answer that is an error. */
export function errorOf(answer: Answer): { status: number; type: string; code: string } {
  const { error } = JSON.parse(answer.text)
  return { status: answer.status, type: error.type, code: error.code }
}

export interface PodOptions {
  readonly serviceAccount?: string
  readonly metadata?: Partial<ObjectMeta>
}

/** A workspace with everything a run needs, made as the manager makes it. */
export class Workspace {
  readonly namespace: string
  readonly #client: KubeClient
  #count = 0

  constructor(client: KubeClient, namespace: string) {
    this.#client = client
    this.namespace = namespace
  }

  static async create(client: KubeClient): Promise<Workspace> {
    const workspace = new Workspace(client, await freshNamespace(client))
    await workspace.serviceAccount(runnerName)
    return workspace
  }

  async serviceAccount(name: string): Promise<void> {
    const { apiVersion, kind } = serviceAccountType
    await this.#client.create({ apiVersion, kind, metadata: { name, namespace: this.namespace } })
  }

  /** A pod that no node ever runs. */
  async pod(options: PodOptions = {}): Promise<Pod> {
    const name = `pod-${++this.#count}`
    const serviceAccountName = options.serviceAccount ?? runnerName
    return this.#client.create<Pod>({
      apiVersion: podType.apiVersion,
      kind: podType.kind,
      metadata: { name, namespace: this.namespace, ...options.metadata },
      spec: { serviceAccountName, containers: [{ name: 'main', image: 'registry.example/none' }] },
    })
  }

  /** A token as the kubelet projects it for this pod; without a pod, one that is bound to none. */
  async token(pod: Pod | undefined, options: { audience?: string; serviceAccount?: string } = {}): Promise<string> {
    const name = options.serviceAccount ?? pod?.spec.serviceAccountName ?? runnerName
    const account = { apiVersion: 'v1', kind: 'ServiceAccount', namespace: this.namespace, name }
    const bound = pod && { apiVersion: 'v1', kind: 'Pod', name: pod.metadata.name, uid: pod.metadata.uid ?? '' }
    const spec = { audiences: [options.audience ?? 'graphwright'], ...(bound && { boundObjectRef: bound }) }
    const request = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec }
    const { status } = await this.#client.createSubresource<TokenRequest>(account, 'token', request)
    return status?.token ?? ''
  }

  /** A Run with its Session and its firing. */
  async run(given: { event?: unknown; input?: SessionSpec['input'] } = {}): Promise<Run> {
    const number = ++this.#count
    const firing = await this.#client.create<AutomationFiring>(
      unsaved(
        aFiring({ name: `firing-manual-${number}`, spec: given.event === undefined ? {} : { event: given.event } }),
        this.namespace,
      ),
    )
    const firingRef = { name: firing.metadata.name, uid: firing.metadata.uid ?? '' }
    const session = await this.#client.create<Session>(
      unsaved(
        aSession({
          name: `session-${number}`,
          spec: { firing: firingRef, ...(given.input && { input: given.input }) },
        }),
        this.namespace,
      ),
    )
    const sessionRef = { name: session.metadata.name, uid: session.metadata.uid ?? '' }
    return this.#client.create<Run>(
      unsaved(aRun({ name: `run-${number}`, spec: { firing: firingRef, session: sessionRef } }), this.namespace),
    )
  }

  /** Writes status as the manager does: everything it owns, whole, as a compare-and-set. */
  async manage(run: Run, status: RunStatus): Promise<Run> {
    for (;;) {
      const { apiVersion, kind } = run
      const { name, resourceVersion = '' } = (await this.live(run)).metadata
      const metadata = { name, namespace: this.namespace, resourceVersion }
      try {
        const written = { apiVersion, kind, metadata, spec: run.spec, status }
        return await this.#client.applyStatus<Run>(written, { fieldManager: fieldManagers.manager })
      } catch (error) {
        if (!isConflict(error)) throw error
      }
    }
  }

  /** Records this pod as the one that acts for the run. */
  record(run: Run, pod: Pod, number = 0, status: RunStatus = {}): Promise<Run> {
    const podRef = { pod: pod.metadata.name, podUID: pod.metadata.uid ?? '' }
    return this.manage(run, { ...status, incarnation: { number, job: `job-${number}`, ...podRef } })
  }

  live(run: Run): Promise<Run> {
    return this.#client.get(runKind, { namespace: this.namespace, name: run.metadata.name })
  }

  /** A run with its pod, recorded, and the pod's token. */
  async recordedRun(given: Parameters<Workspace['run']>[0] = {}): Promise<{ run: Run; pod: Pod; token: string }> {
    const [run, pod] = await Promise.all([this.run(given), this.pod()])
    await this.record(run, pod)
    return { run, pod, token: await this.token(pod) }
  }

  /** Deletes what {@link run} made for this run, but for the Run itself. */
  async deleteInput(run: Run): Promise<void> {
    const { apiVersion } = run
    const { namespace } = this
    await this.#client.delete({ apiVersion, kind: sessionKind.kind, namespace, name: run.spec.session.name })
    await this.#client.delete({ apiVersion, kind: automationFiring.kind, namespace, name: run.spec.firing.name })
  }
}
