import { setTimeout as sleep } from 'node:timers/promises'
import { onTestFinished } from 'vitest'
import { type Automation, automation } from '../../../src/api/automation.ts'
import { type AutomationFiring, automationFiring } from '../../../src/api/automation-firing.ts'
import { kinds } from '../../../src/api/kinds.ts'
import { annotations, fieldManagers } from '../../../src/api/labels.ts'
import { type Session, type SessionStatus, session } from '../../../src/api/session.ts'
import { agentController } from '../../../src/controllers/agent.ts'
import { automationController } from '../../../src/controllers/automation.ts'
import { automationFiringController } from '../../../src/controllers/automation-firing.ts'
import { environmentController } from '../../../src/controllers/environment.ts'
import type { KubeClient } from '../../../src/kube/client.ts'
import { type Event, eventType } from '../../../src/kube/core-types.ts'
import { EventRecorder } from '../../../src/kube/events.ts'
import { whoAmI } from '../../../src/kube/identity.ts'
import { compareText } from '../../../src/lib/text.ts'
import { firingsByAutomation } from '../../../src/reconcilers/automation-firing/index-by-automation.ts'
import { isSettledFiring } from '../../../src/reconcilers/automation-firing/phase.ts'
import type { Clock } from '../../../src/runtime/clock.ts'
import { silentLogger } from '../../../src/runtime/log.ts'
import { Manager } from '../../../src/runtime/manager.ts'
import { Metrics } from '../../../src/runtime/metrics.ts'
import type { Notices } from '../../../src/runtime/notices.ts'
import { aFiring, anAgent, anAutomation, anEnvironment, inlineContent, unsaved } from '../../kit/builders.ts'
import { freshNamespace, testClient } from '../../kit/control-plane.ts'
import { installCrds } from '../../kit/crds.ts'
import { eventually } from '../../kit/eventually.ts'
import { jobSettings } from '../../kit/job-settings.ts'

/** How every Session ends at the moment: with this reason, or well. */
type Verdict = string | undefined

/**
 * A namespace with the Automation `triage`, which is due every five minutes and runs one agent. Everything but the
 * controllers of Session and Run is real: each Session ends as {@link Failing.verdict} says.
 */
export class Failing {
  readonly client: KubeClient
  readonly namespace: string
  readonly metrics = new Metrics()
  verdict: Verdict

  private constructor(client: KubeClient, namespace: string) {
    this.client = client
    this.namespace = namespace
  }

  /** Ends with the test. */
  static async create(verdict: Verdict): Promise<Failing> {
    const client = testClient({ types: kinds })
    onTestFinished(() => client.transport.close())
    await installCrds(client)
    const failing = new Failing(client, await freshNamespace(client))
    failing.verdict = verdict
    const { namespace } = failing
    await client.create(unsaved(anEnvironment({ spec: { network: 'open' } }), namespace))
    await client.create(unsaved(anAgent(), namespace))
    await failing.createAccount()
    const end = new AbortController()
    const playing = failing.#play(end.signal)
    onTestFinished(async () => {
      end.abort()
      await playing
    })
    return failing
  }

  /** Starts a manager. It ends with the test, or when it is told to. */
  async start(clock: Clock, notices?: Notices): Promise<() => Promise<void>> {
    const { client, namespace } = this
    const manager = new Manager({
      client,
      clock,
      log: silentLogger,
      metrics: this.metrics,
      events: new EventRecorder(client, { controller: 'graphwright.dev/manager', instance: 'test', onError: () => {} }),
      namespaces: [namespace],
      freeze: true,
    })
    const nothing = async () => {
      throw new Error('nothing is that large here')
    }
    manager.informer(automationFiring, { indexes: { [firingsByAutomation.name]: firingsByAutomation.values } })
    manager.addController(automationController(await whoAmI(client), notices))
    manager.addController(
      automationFiringController({ contents: { put: nothing, get: nothing }, schemas: { validate: nothing } }),
    )
    manager.addController(environmentController({ operatorNamespace: 'graphwright-system', settings: jobSettings }))
    manager.addController(agentController)
    let stopped: Promise<void> | undefined
    const stop = () => {
      stopped ??= manager.stop(1000)
      return stopped
    }
    onTestFinished(stop)
    await manager.start()
    return stop
  }

  async automate(): Promise<void> {
    const triggers = [
      { id: 'tick', kind: 'schedule' as const, cron: '*/5 * * * *', timezone: 'UTC' },
      { id: 'by-hand', kind: 'manual' as const },
    ]
    // One after the other: what is due while a slow machine still works on the last is skipped.
    const spec = { triggers, concurrencyPolicy: 'Forbid' as const }
    await this.client.create(unsaved(anAutomation({ spec }), this.namespace))
  }

  automation(): Promise<Automation> {
    return this.client.get(automation, { name: 'triage', namespace: this.namespace })
  }

  /** Waits until the Automation is as `test` wants it. */
  until(test: (automation: Automation) => boolean): Promise<Automation> {
    return eventually(
      async () => {
        const found = await this.automation()
        if (!test(found)) throw new Error(`it is ${JSON.stringify(found.status)}`)
        return found
      },
      { timeout: 40_000 },
    )
  }

  /** Fires by hand and waits for the end. */
  async fire(name: string): Promise<AutomationFiring> {
    await this.client.create(unsaved(aFiring({ name }), this.namespace))
    return await eventually(async () => {
      const found = await this.client.get(automationFiring, { name, namespace: this.namespace })
      if (!isSettledFiring(found)) throw new Error(`it is ${JSON.stringify(found.status)}`)
      return found
    })
  }

  /** Firings that the schedule made and that were not skipped, oldest first. */
  async scheduled(): Promise<AutomationFiring[]> {
    const { items } = await this.client.list(automationFiring, { namespace: this.namespace })
    return items
      .filter(({ spec, status }) => spec.trigger === 'schedule' && status?.phase !== 'Skipped')
      .sort((a, b) => compareText(a.spec.occurrence ?? '', b.spec.occurrence ?? ''))
  }

  /** Asks for the end of the pause as a person would. */
  async resume(value: string): Promise<void> {
    const { apiVersion, kind } = automation
    const ref = { apiVersion, kind, name: 'triage', namespace: this.namespace }
    await this.client.mergePatch(ref, { metadata: { annotations: { [annotations.resumeRequested]: value } } })
  }

  /** Events of a reason about the Automation, repetitions counted. */
  async events(reason: string): Promise<Event[]> {
    const { items } = await this.client.list(eventType, { namespace: this.namespace })
    return items.filter((event) => event.reason === reason && event.regarding?.kind === 'Automation')
  }

  async createAccount(): Promise<void> {
    const { namespace } = this
    await this.client.create({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'triage', namespace } })
  }

  async deleteAccount(): Promise<void> {
    const ref = { apiVersion: 'v1', kind: 'ServiceAccount', name: 'triage', namespace: this.namespace }
    await this.client.delete(ref)
  }

  async #play(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const { items } = await this.client.list(session, { namespace: this.namespace })
      await Promise.all(items.filter(({ status }) => status?.phase === undefined).map((one) => this.#end(one)))
      await sleep(50)
    }
  }

  async #end({ apiVersion, kind, metadata }: Session): Promise<void> {
    const { name, namespace = '', resourceVersion = '' } = metadata
    const reason = this.verdict
    const status: SessionStatus =
      reason === undefined
        ? { phase: 'Succeeded', output: inlineContent('done') }
        : { phase: 'Failed', reason, message: `The play says ${reason}` }
    const object = { apiVersion, kind, metadata: { name, namespace, resourceVersion }, status }
    await this.client.applyStatus(object, { fieldManager: fieldManagers.manager })
  }
}
