import { afterAll, beforeAll, expect, inject } from 'vitest'
import { kinds } from '../../../src/api/kinds.ts'
import type { KubeClient } from '../../../src/kube/client.ts'
import { testClient } from '../../kit/control-plane.ts'
import type { Doom, ManagerKeeper } from '../../kit/manager-process.ts'
import { Installation } from './installation.ts'
import { expectLawfulHistory } from './invariants.ts'
import { answers, Story } from './story.ts'
import { type Version, Witness } from './witness.ts'

/** What every story of {@link Story.play} comes to. */
export const theEnd = {
  plan: 'Applied',
  journal: ['Create triage Started', 'Create triage Done'],
  firing: ['Succeeded', 'completed', 'paged'],
  steps: {
    triage: ['completed', 'the verdict'],
    verdict: ['completed', 'the verdict'],
    urgent: ['completed', 'continue'],
    page: ['completed', 'paged'],
  },
  sessions: [
    ['page', 'Succeeded', 'paged'],
    ['triage', 'Succeeded', 'the verdict'],
  ],
  runs: [
    ['page', 'Succeeded', 'paged'],
    ['triage', 'Succeeded', 'the verdict'],
  ],
}

/** An installation in the control plane of this run, with a witness of everything. */
export interface Stage {
  readonly client: KubeClient
  readonly operator: Installation
  readonly witness: Witness
}

/** An installation for the tests of a file that need no witness. */
export function installationForFile(): () => Installation {
  let found: Installation | undefined
  beforeAll(async () => {
    found = await Installation.start({ client: testClient({ types: kinds }), kubeconfig: inject('kubeconfig') })
  })
  afterAll(async () => {
    await found?.stop()
    await found?.client.transport.close()
  })
  return () => {
    if (found === undefined) throw new Error('nothing is installed')
    return found
  }
}

/** Sets the stage for the tests of a file. */
export function stageForFile(): () => Stage {
  let stage: Stage | undefined
  let client: KubeClient | undefined
  beforeAll(async () => {
    client = testClient({ types: kinds })
    const operator = await Installation.start({ client, kubeconfig: inject('kubeconfig') })
    stage = { client, operator, witness: await new Witness(client).start() }
  })
  afterAll(async () => {
    await stage?.witness.stop()
    await stage?.operator.stop()
    await client?.transport.close()
  })
  return () => {
    if (stage === undefined) throw new Error('the stage is not set')
    return stage
  }
}

export interface Told {
  readonly managers: readonly ManagerKeeper[]
  readonly history: readonly Version[]
  readonly namespace: string
}

/** Plays one story under the given managers, and holds its end and its history to the rules. */
export async function tell(
  { client, operator, witness }: Stage,
  options: {
    /** Where each manager dies, by life; default one that lives. */
    readonly dooms?: readonly ((life: number) => Doom | undefined)[]
    readonly api?: Installation['api']
    /** Called when the managers run; the story is over when it has come to its end. */
    readonly meanwhile?: () => Promise<void>
  } = {},
): Promise<Told> {
  const story = await Story.prepare(client, options.api ?? operator.api)
  const { namespace } = story
  const managers = (options.dooms ?? [() => undefined]).map((doomOf) => operator.manage(namespace, doomOf))
  let ended: PromiseSettledResult<void>[] = []
  try {
    await Promise.race([Promise.all([story.play(), options.meanwhile?.()]), ...managers.map(({ failed }) => failed)])
    expect(await story.outcome()).toEqual(theEnd)
    await witness.catchesUp(client, namespace)
  } catch (error) {
    const logs = managers.map(({ complaints }) => complaints).join('\n')
    throw new Error(`${error instanceof Error ? error.message : error}\n${logs}`, { cause: error })
  } finally {
    // What went wrong before matters more than that the rest could not be put away.
    ended = await Promise.allSettled([...managers.map((manager) => manager.stop()), story.stop()])
  }
  for (const end of ended) if (end.status === 'rejected') throw end.reason
  const history = witness.history(namespace)
  expectLawfulHistory(history)
  const { output } = (await story.firing()).status?.steps?.triage ?? {}
  expect(await operator.content(output?.digest ?? '')).toBe(answers.triage)
  return { managers, history, namespace }
}
