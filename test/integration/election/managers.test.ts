import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { KubeConfig } from '@kubernetes/client-node'
import { afterAll, beforeAll, describe, expect, inject, it, type TestContext } from 'vitest'
import type { AutomationFiring } from '../../../src/api/automation-firing.ts'
import { environment } from '../../../src/api/environment.ts'
import { installation } from '../../../src/api/installation.ts'
import { kinds } from '../../../src/api/kinds.ts'
import type { KubeClient } from '../../../src/kube/client.ts'
import { eventType, type Lease, leaseType } from '../../../src/kube/core-types.ts'
import { conditionOf } from '../../../src/runtime/conditions.ts'
import { anEnvironment, unsaved } from '../../kit/builders.ts'
import { freshNamespace, testClient, testKubeConfig } from '../../kit/control-plane.ts'
import { eventually } from '../../kit/eventually.ts'
import { FaultProxy } from '../../kit/fault-proxy.ts'
import { Installation } from '../crash/installation.ts'
import { expectLawfulHistory } from '../crash/invariants.ts'
import { theEnd } from '../crash/stage.ts'
import { Story } from '../crash/story.ts'
import { Witness } from '../crash/witness.ts'
import { Candidate } from './candidate.ts'

let client: KubeClient
let operator: Installation
let witness: Witness

beforeAll(async () => {
  client = testClient({ types: kinds })
  operator = await Installation.start({ client, kubeconfig: inject('kubeconfig') })
  witness = await new Witness(client).start()
}, 120_000)

afterAll(async () => {
  await witness?.stop()
  await operator?.stop()
  await client?.transport.close()
})

/** Managers that compete for one Lease, for one namespace. */
class Election {
  readonly workspace: string
  readonly #leaseNamespace: string
  readonly #test: TestContext
  readonly #env: NodeJS.ProcessEnv

  private constructor(workspace: string, leaseNamespace: string, test: TestContext, env: NodeJS.ProcessEnv) {
    this.workspace = workspace
    this.#leaseNamespace = leaseNamespace
    this.#test = test
    this.#env = env
  }

  /** @param env further environment of the managers */
  static async prepare(test: TestContext, workspace?: string, env: NodeJS.ProcessEnv = {}): Promise<Election> {
    return new Election(workspace ?? (await freshNamespace(client)), await freshNamespace(client), test, env)
  }

  /** Another manager; resolves when it is ready. */
  join(): Promise<Candidate> {
    const { args, env } = operator.settings(this.workspace)
    const { onTestFinished } = this.#test
    const place = { leaseNamespace: this.#leaseNamespace, onTestFinished }
    return Candidate.start({ args, env: { ...env, ...this.#env }, ...place })
  }

  lease(): Promise<Lease> {
    return client.get(leaseType, { namespace: this.#leaseNamespace, name: installation.managerLease })
  }

  /** Waits until the candidate holds the Lease and works. Returns how long that took, milliseconds. */
  async until(candidate: Candidate, timeout = 30_000): Promise<number> {
    const start = performance.now()
    await eventually(
      async () => {
        const holder = (await this.lease()).spec?.holderIdentity
        if (holder !== candidate.identity) throw new Error(`${holder} holds the Lease`)
      },
      { timeout },
    )
    const took = performance.now() - start
    await eventually(() => candidate.leads(), { timeout: 5000 })
    return took
  }

  /** What `kubectl describe lease` shows. */
  async story(): Promise<string[]> {
    const { items } = await client.list(eventType, { namespace: this.#leaseNamespace })
    const { uid } = (await this.lease()).metadata
    const ofLease = items.filter(({ regarding }) => regarding?.uid === uid)
    return ofLease
      .toSorted((a, b) => ((a.eventTime ?? '') < (b.eventTime ?? '') ? -1 : 1))
      .map(({ note }) => note ?? '')
  }
}

/** Something that only a manager which works brings about. */
async function isServed(namespace: string, name: string): Promise<void> {
  await client.create(unsaved(anEnvironment({ name }), namespace))
  await eventually(async () => {
    const { status } = await client.get(environment, { namespace, name })
    return conditionOf(status?.conditions, 'Ready')?.status === 'True'
  })
}

describe.concurrent('two managers with leader election', { timeout: 150_000 }, () => {
  it('one works, the other takes over: at once from one that ends, within 17 s from one that was killed', async (test) => {
    const election = await Election.prepare(test)
    const first = await election.join()
    await election.until(first)
    const second = await election.join()
    expect(await second.leads()).toBe(false)
    await isServed(election.workspace, 'one')

    // The steady state of two managers: nothing is written but the Lease.
    const { length } = witness.history(election.workspace)
    const before = await election.lease()
    await sleep(6500)
    expect(witness.history(election.workspace)).toHaveLength(length)
    const { metadata, spec } = await election.lease()
    expect(metadata.resourceVersion).not.toBe(before.metadata.resourceVersion)
    expect(spec).toMatchObject({ holderIdentity: first.identity, leaseTransitions: 0, leaseDurationSeconds: 15 })
    expect(second.writes).toEqual([])

    first.signal('SIGTERM')
    const handOver = await election.until(second)
    expect(await first.ended).toEqual({ code: 0, signal: null })
    expect(handOver).toBeLessThan(3000)
    await isServed(election.workspace, 'two')

    const third = await election.join()
    second.signal('SIGKILL')
    const takeOver = await election.until(third)
    expect(takeOver).toBeLessThan(17_500)
    await isServed(election.workspace, 'three')
    expect((await election.lease()).spec?.leaseTransitions).toBe(2)
    await eventually(async () => expect(await election.story()).toHaveLength(4))
    expect((await election.story()).sort()).toEqual(
      [
        `${first.identity} became leader`,
        `${first.identity} stopped leading`,
        `${second.identity} became leader`,
        `${third.identity} became leader`,
      ].sort(),
    )
    console.log(`hand-over ${Math.round(handOver)} ms, take-over after SIGKILL ${Math.round(takeOver)} ms`)
  })

  it('[A-310] a leader that stood still for 20 s in the middle of a firing does nothing more, and ends', async (test) => {
    const story = await Story.prepare(client, operator.api)
    test.onTestFinished(() => story.stop())
    const election = await Election.prepare(test, story.namespace)
    const first = await election.join()
    await election.until(first)
    const second = await election.join()
    const admitted = witness.sees(
      ({ object }) =>
        object.kind === 'AutomationFiring' &&
        object.metadata.namespace === story.namespace &&
        (object as AutomationFiring).status?.admission !== undefined,
    )
    const played = story.play()
    await Promise.race([admitted, played])
    first.signal('SIGSTOP')
    const stopped = performance.now()
    const takeOver = await election.until(second)
    await played
    await sleep(Math.max(0, 20_000 - (performance.now() - stopped)))
    const writes = first.writes.length
    first.signal('SIGCONT')
    expect(await first.ended).toEqual({ code: 1, signal: null })
    expect(first.output).toContain('LeadershipLost')
    console.log(`take-over ${Math.round(takeOver)} ms, ${first.writes.length - writes} writes told after it went on`)

    expect(await story.outcome()).toEqual(theEnd)
    await witness.catchesUp(client, story.namespace)
    expectLawfulHistory(witness.history(story.namespace))
    expect(second.writes.length).toBeGreaterThan(0)
    expect((await election.lease()).spec?.holderIdentity).toBe(second.identity)
  })

  it('an API server that is away for 5 s changes nothing; after 20 s the leader has ended and the other leads', async (test) => {
    const proxy = await FaultProxy.start(testKubeConfig().getCurrentCluster()?.server ?? '')
    test.onTestFinished(() => proxy.close())
    const election = await Election.prepare(test, undefined, { KUBECONFIG: kubeconfigFor(test, proxy.url) })
    const first = await election.join()
    await election.until(first)
    const second = await election.join()

    proxy.blackHole()
    await sleep(5000)
    proxy.heal()
    await sleep(6000)
    expect((await election.lease()).spec).toMatchObject({ holderIdentity: first.identity, leaseTransitions: 0 })
    expect(await first.leads()).toBe(true)
    await isServed(election.workspace, 'one')

    proxy.hold()
    proxy.reset()
    const away = performance.now()
    expect(await first.ended).toEqual({ code: 1, signal: null })
    const gaveUp = performance.now() - away
    expect(gaveUp).toBeLessThan(12_000)
    expect(first.output).toContain('could not be renewed within 10 s')
    await sleep(Math.max(0, 20_000 - gaveUp))
    proxy.heal()
    await election.until(second)
    const back = await election.join()
    await isServed(election.workspace, 'two')
    expect([await second.leads(), await back.leads()]).toEqual([true, false])
    console.log(`the leader ended ${Math.round(gaveUp)} ms after the API server was gone`)
  })
})

/** A kubeconfig for the same API server at another address. */
function kubeconfigFor(test: TestContext, server: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'graphwright-election-'))
  test.onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const known = testKubeConfig()
  const config = new KubeConfig()
  config.loadFromOptions({
    clusters: known.getClusters().map((cluster) => ({ ...cluster, server })),
    users: known.getUsers(),
    contexts: known.getContexts(),
    currentContext: known.getCurrentContext(),
  })
  const path = join(folder, 'kubeconfig')
  writeFileSync(path, config.exportConfig())
  return path
}
