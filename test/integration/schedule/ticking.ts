import { type Automation, type AutomationSpec, automation } from '../../../src/api/automation.ts'
import { type AutomationFiring, automationFiring } from '../../../src/api/automation-firing.ts'
import { automationGraph } from '../../../src/api/automation-graph.ts'
import { environment } from '../../../src/api/environment.ts'
import { kinds } from '../../../src/api/kinds.ts'
import type { KubeClient } from '../../../src/kube/client.ts'
import { ownedBy } from '../../../src/lib/owner-references.ts'
import { isTrue } from '../../../src/runtime/conditions.ts'
import { aGraph, anAutomation, anEnvironment, aProgram, unsaved } from '../../kit/builders.ts'
import { freshNamespace, testClient } from '../../kit/control-plane.ts'
import { installCrds } from '../../kit/crds.ts'
import { eventually } from '../../kit/eventually.ts'

/** A program that is over as soon as it has begun. */
const nothing = aProgram({
  name: 'nothing',
  spec: { program: { entries: [{ id: 'tick', kind: 'schedule' }], steps: [] }, pins: [] },
})

/** A namespace with Automations that run a program without steps, so that only their schedules are at work. */
export class Ticking {
  readonly client: KubeClient
  readonly namespace: string

  private constructor(client: KubeClient, namespace: string) {
    this.client = client
    this.namespace = namespace
  }

  static async create(client = testClient({ types: kinds })): Promise<Ticking> {
    await installCrds(client)
    const ticking = new Ticking(client, await freshNamespace(client))
    await client.create(unsaved(anEnvironment(), ticking.namespace))
    const account = { name: 'triage', namespace: ticking.namespace }
    await client.create({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: account })
    await client.create(unsaved(nothing, ticking.namespace))
    await client.create(unsaved(aGraph({ name: 'owner' }), ticking.namespace))
    return ticking
  }

  /** An Automation with a schedule, owned by a graph as programs demand. */
  async add(name: string, cron: string, spec: Partial<AutomationSpec> = {}): Promise<Automation> {
    const { client, namespace } = this
    const owner = await client.get(automationGraph, { namespace, name: 'owner' })
    const built = anAutomation({
      name,
      metadata: { ownerReferences: [ownedBy(owner)] },
      spec: {
        triggers: [{ id: 'tick', kind: 'schedule', cron, timezone: 'UTC' }],
        target: { program: { name: nothing.metadata.name, digest: nothing.spec.digest } },
        ...spec,
      },
    })
    return await client.create(unsaved(built, namespace))
  }

  /** Waits until nothing stands in the way of an Automation; before that, what is due is skipped. */
  async ready(): Promise<void> {
    const place = { namespace: this.namespace, name: 'default' }
    await eventually(async () => isTrue((await this.client.get(environment, place)).status?.conditions, 'Ready'))
  }

  get(name: string): Promise<Automation> {
    return this.client.get(automation, { namespace: this.namespace, name })
  }

  /** Changes the spec as a person would. */
  async change(name: string, spec: Record<string, string | boolean | null>): Promise<void> {
    const { apiVersion, kind } = automation
    await this.client.mergePatch({ apiVersion, kind, name, namespace: this.namespace }, { spec })
  }

  /** Firings of an Automation, oldest occurrence first. */
  async firings(name?: string): Promise<AutomationFiring[]> {
    const { items } = await this.client.list(automationFiring, { namespace: this.namespace })
    return items
      .filter(({ spec }) => name === undefined || spec.automation.name === name)
      .sort((a, b) => ((a.spec.occurrence ?? '') < (b.spec.occurrence ?? '') ? -1 : 1))
  }
}
