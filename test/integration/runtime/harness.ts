import type { KubeClient } from '../../../src/kube/client.ts'
import { type Event, eventType } from '../../../src/kube/core-types.ts'
import { isAlreadyExists } from '../../../src/kube/error.ts'
import { EventRecorder } from '../../../src/kube/events.ts'
import type { KubeObject, Resource } from '../../../src/lib/object.ts'
import { systemClock } from '../../../src/runtime/clock.ts'
import type { ControllerSpec, StatusBase } from '../../../src/runtime/controller.ts'
import { silentLogger } from '../../../src/runtime/log.ts'
import { Manager, type ManagerOptions } from '../../../src/runtime/manager.ts'
import { Metrics } from '../../../src/runtime/metrics.ts'
import type { Write } from '../../../src/runtime/writer.ts'
import { eventually } from '../../kit/eventually.ts'
import { thingCrd, thingType } from './thing.ts'

/** Installs the test kind and waits until it is served. */
export async function installThings(client: KubeClient): Promise<void> {
  await client.create(thingCrd).catch((error: unknown) => {
    if (!isAlreadyExists(error)) throw error
  })
  await eventually(() => client.list(thingType))
}

/** A running manager with one controller, and what it has done. */
export class Running {
  readonly manager: Manager
  readonly metrics = new Metrics()
  readonly writes: Write[] = []

  constructor(client: KubeClient, namespace: string, options: Partial<ManagerOptions> = {}) {
    const events = new EventRecorder(client, { controller: 'runtime.test', instance: 'test', onError: () => {} })
    this.manager = new Manager({
      client,
      clock: systemClock,
      log: silentLogger,
      metrics: this.metrics,
      events,
      namespaces: [namespace],
      freeze: true,
      ...options,
      faults: async (moment, write) => {
        if (moment === 'before') this.writes.push(write)
        await options.faults?.(moment, write)
      },
    })
  }

  /** Value of a metric, by its name with labels; 0 where there is none. */
  async metric(line: string): Promise<number> {
    const text = await this.metrics.registry.metrics()
    const found = text.split('\n').find((each) => each.startsWith(`${line} `))
    return found === undefined ? 0 : Number(found.slice(line.length + 1))
  }

  passes(result: string): Promise<number> {
    return this.metric(`controller_runtime_reconcile_total{controller="things",result="${result}"}`)
  }
}

const running: Running[] = []

/** Starts a manager with this controller, in one namespace. {@link stopAll} stops it. */
export async function run<T extends Resource<unknown, S>, S extends StatusBase>(
  client: KubeClient,
  namespace: string,
  spec: ControllerSpec<T, S>,
  options: Partial<ManagerOptions> = {},
): Promise<Running> {
  const started = new Running(client, namespace, options)
  started.manager.addController(spec)
  await started.manager.start()
  running.push(started)
  return started
}

export async function stopAll(): Promise<void> {
  await Promise.all(running.splice(0).map(({ manager }) => manager.stop(1000)))
}

/** Events about an object, by `kubectl describe`'s rule. */
export async function eventsOf(client: KubeClient, object: KubeObject): Promise<Event[]> {
  const { items } = await client.list(eventType, { namespace: object.metadata.namespace })
  return items.filter(({ regarding }) => regarding?.uid === object.metadata.uid)
}
