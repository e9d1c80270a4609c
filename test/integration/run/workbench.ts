import { onTestFinished } from 'vitest'
import { type Agent, type AgentSpec, type AgentVersion, agentVersion } from '../../../src/api/agent.ts'
import { type Environment, type EnvironmentSpec, environment } from '../../../src/api/environment.ts'
import { kinds } from '../../../src/api/kinds.ts'
import { labels } from '../../../src/api/labels.ts'
import { type Run, run as runType } from '../../../src/api/run.ts'
import type { Session, SessionSpec } from '../../../src/api/session.ts'
import { agentController } from '../../../src/controllers/agent.ts'
import { environmentController } from '../../../src/controllers/environment.ts'
import { runController, runPodSelector } from '../../../src/controllers/run.ts'
import { ContentFiles } from '../../../src/gateway/contents.ts'
import type { KubeClient } from '../../../src/kube/client.ts'
import { type Job, jobType, type Pod, podType } from '../../../src/kube/core-types.ts'
import { EventRecorder } from '../../../src/kube/events.ts'
import type { KubeObject } from '../../../src/lib/object.ts'
import { ownedBy } from '../../../src/lib/owner-references.ts'
import { systemClock } from '../../../src/runtime/clock.ts'
import { isTrue } from '../../../src/runtime/conditions.ts'
import { silentLogger } from '../../../src/runtime/log.ts'
import { Manager, type ManagerOptions } from '../../../src/runtime/manager.ts'
import { Metrics } from '../../../src/runtime/metrics.ts'
import { anAgent, anEnvironment, aRun, aSession, unsaved } from '../../kit/builders.ts'
import { freshNamespace, testClient } from '../../kit/control-plane.ts'
import { installCrds } from '../../kit/crds.ts'
import { eventually } from '../../kit/eventually.ts'
import { jobSettings } from '../../kit/job-settings.ts'
import { Kubelet, type Play } from '../../kit/kubelet.ts'
import { fileContents } from '../../kit/operator.ts'
import { type PodRunner, recordingRunner } from '../../kit/pod-runner.ts'
import { temporaryFolder } from '../../kit/temporary-folder.ts'

/** A client that knows our kinds, and the kinds installed. */
export async function preparedClient(): Promise<KubeClient> {
  const client = testClient({ types: kinds })
  await installCrds(client)
  return client
}

export interface Given {
  readonly environment?: Partial<EnvironmentSpec>
  readonly agent?: Partial<AgentSpec>
  readonly session?: Partial<SessionSpec>
}

/** A workspace in which runs are made by hand, and the controllers that carry them out. */
export class Workbench {
  readonly client: KubeClient
  readonly namespace: string
  readonly #managers: Manager[] = []

  private constructor(client: KubeClient, namespace: string) {
    this.client = client
    this.namespace = namespace
  }

  /** A namespace of its own that admits restricted pods only. */
  static async create(client: KubeClient): Promise<Workbench> {
    const namespace = await freshNamespace(client)
    const patch = { metadata: { labels: { 'pod-security.kubernetes.io/enforce': 'restricted' } } }
    await client.mergePatch({ apiVersion: 'v1', kind: 'Namespace', name: namespace }, patch)
    const bench = new Workbench(client, namespace)
    onTestFinished(() => bench.#stop())
    return bench
  }

  /** Starts the controllers of this house; they stop with the test. */
  async manager(options: Partial<ManagerOptions> = {}): Promise<Manager> {
    const { client, namespace } = this
    const manager = new Manager({
      client,
      clock: systemClock,
      log: silentLogger,
      metrics: new Metrics(),
      events: new EventRecorder(client, { controller: 'graphwright.dev/manager', instance: 'test', onError: () => {} }),
      namespaces: [namespace],
      freeze: true,
      ...options,
    })
    const contents = fileContents(await ContentFiles.open(temporaryFolder()))
    manager.informer(podType, { labelSelector: runPodSelector })
    manager.addController(runController({ settings: jobSettings, contents }))
    manager.addController(environmentController({ operatorNamespace: 'graphwright-system', settings: jobSettings }))
    manager.addController(agentController)
    this.#managers.push(manager)
    await manager.start()
    return manager
  }

  async #stop(): Promise<void> {
    await Promise.all(this.#managers.map((manager) => manager.stop(500)))
  }

  /** Plays the node; until the test ends. */
  async kubelet(play: (pod: Pod) => Play = () => ({}), runner: PodRunner = recordingRunner(this.client)) {
    const kubelet = new Kubelet({ client: this.client, namespace: this.namespace, runner, play })
    onTestFinished(() => kubelet.stop())
    return kubelet.start()
  }

  /** A Run with everything before it: Environment, Agent, its published version, and the Session. */
  async run(given: Given = {}): Promise<Run> {
    const spec = { ...anEnvironment().spec, ...given.environment }
    await this.create<Environment>(anEnvironment({ spec }))
    await this.create<Agent>(anAgent({ spec: given.agent ?? {} }))
    await eventually(async () => isTrue((await this.get(environment, 'default')).status?.conditions, 'Ready'))
    const version = await this.version('triager-v1')
    const { name, uid = '' } = version.metadata
    const session = await this.create<Session>(
      aSession({
        spec: {
          agentVersion: { name, uid, digest: version.spec.digest },
          environment: { name: 'default', spec },
          ...given.session,
        },
      }),
    )
    const reference = { name: session.metadata.name, uid: session.metadata.uid ?? '' }
    const metadata = { ownerReferences: [ownedBy(session)], labels: { [labels.graph]: 'triage' } }
    return this.create<Run>(aRun({ metadata, spec: { session: reference, firing: session.spec.firing } }))
  }

  version(name: string): Promise<AgentVersion> {
    return eventually(() => this.get<AgentVersion>(agentVersion, name))
  }

  create<T extends KubeObject>(object: T): Promise<T> {
    return this.client.create(unsaved(object, this.namespace))
  }

  get<T extends KubeObject>(
    type: Parameters<KubeClient['get']>[0] & { readonly example?: T },
    name: string,
  ): Promise<T> {
    return this.client.get<T>(type, { namespace: this.namespace, name })
  }

  live(run: Run): Promise<Run> {
    return this.get<Run>(runType, run.metadata.name)
  }

  /** The run once it has settled. */
  settled(run: Run, timeout = 20_000): Promise<Run> {
    return this.until(run, ({ status }) => status?.settledAt !== undefined, timeout)
  }

  /** The run once this is so; the error shows its status. */
  until(run: Run, isSo: (run: Run) => boolean, timeout = 20_000): Promise<Run> {
    return eventually(
      async () => {
        const found = await this.live(run)
        if (!isSo(found)) throw new Error(`not so: ${JSON.stringify(found.status, undefined, 2)}`)
        return found
      },
      { timeout, interval: 25 },
    )
  }

  async jobs(): Promise<Job[]> {
    return (await this.client.list(jobType, { namespace: this.namespace })).items
  }

  async pods(): Promise<Pod[]> {
    return (await this.client.list(podType, { namespace: this.namespace })).items
  }
}
