import { expect, it, onTestFinished } from 'vitest'
import { automation } from '../../../src/api/automation.ts'
import type { AutomationFiring } from '../../../src/api/automation-firing.ts'
import { kinds } from '../../../src/api/kinds.ts'
import type { Clock } from '../../../src/runtime/clock.ts'
import { sleepOn } from '../../../src/runtime/clock.ts'
import { compressedClock } from '../../kit/compressed-clock.ts'
import { DeafClient } from '../../kit/deaf-client.ts'
import { eventually } from '../../kit/eventually.ts'
import { startOperator } from '../../kit/operator.ts'
import { everSeen, Witness } from '../crash/witness.ts'
import { Workspace } from '../firing/workspace.ts'

/** A minute passes in half a second. */
const speed = 120
const minute = 60_000
/** How far the clock of the manager with the old view is behind. */
const lag = 12 * minute
const patience = { timeout: 30_000 }

/** Names are let go as soon as may be, far sooner than in earnest. */
const pruning = { settledMillis: 1, dedupeMillis: 1 }

function late(clock: Clock): Clock {
  const shifted: Clock = {
    ...clock,
    now: () => new Date(clock.now().getTime() - lag),
    sleep: (ms, signal) => sleepOn(clock, ms, signal),
  }
  return shifted
}

/**
 * An occurrence that ran and was pruned is due for a second manager, whose clock is behind and whose view of the
 * Automation is older than the watermark: nothing that it knows, nor the name, keeps it from making the firing again.
 */
async function madeAgain() {
  const workspace = await Workspace.create()
  const { client, namespace } = workspace
  const witness = await new Witness(client).start()
  onTestFinished(() => witness.stop())
  const deaf = new DeafClient(automation, kinds)
  onTestFinished(() => deaf.transport.close())
  onTestFinished(() => deaf.hear())
  const clock = compressedClock(speed, Date.now())
  const punctual = await startOperator(client, namespace, { clock, pruning })
  const behind = await startOperator(deaf, namespace, { clock: late(clock), pruning })
  const due = new Date(Math.ceil(clock.now().getTime() / minute) * minute + 8 * minute)
  await workspace.createAutomation({
    triggers: [{ id: 'hourly', kind: 'schedule', cron: `${due.getUTCMinutes()} * * * *`, timezone: 'UTC' }],
    history: { successfulLimit: 0, failedLimit: 0, skippedLimit: 100, detailRetentionSeconds: 86_400 },
  })
  await eventually(() => behind.manager.read.get(automation, `${namespace}/triage`)?.status?.state === 'Active')
  deaf.goDeaf()
  const occurrence = due.toISOString()
  const firings = () => {
    const all = witness.history(namespace).map(({ object }) => object as AutomationFiring)
    return all.filter(({ kind, spec }) => kind === 'AutomationFiring' && spec.occurrence === occurrence)
  }
  const versions = (type: string) => witness.history(namespace).filter((version) => version.type === type)
  await eventually(() => versions('deleted').some(({ object }) => object.kind === 'AutomationFiring'), patience)
  expect(firings().some(({ status }) => status?.result === 'completed')).toBe(true)
  const made = () => new Set(firings().map(({ metadata }) => metadata.uid)).size
  return { workspace, punctual, deaf, witness, firings, made }
}

async function expectRunOnce({ workspace, witness, firings, made }: Awaited<ReturnType<typeof madeAgain>>) {
  await eventually(() => firings().at(-1)?.status?.phase === 'Skipped', patience)
  expect(firings().at(-1)?.status).toMatchObject({ phase: 'Skipped', reason: 'AlreadyFired' })
  expect(made()).toBe(2)
  expect(everSeen(witness.history(workspace.namespace), 'Session')).toHaveLength(1)
  expect(everSeen(witness.history(workspace.namespace), 'Job')).toHaveLength(1)
  expect((await workspace.automation()).status?.active).toEqual([])
}

it('[A-004] a pruned occurrence does not run twice, though a manager with an old view makes its firing again', async () => {
  const story = await madeAgain()
  await eventually(() => story.made() === 2, patience)
  await expectRunOnce(story)
})

it('[A-004] nor does it where that manager is the only one: it cannot start what it does not know the state of', async () => {
  const story = await madeAgain()
  await story.punctual.stop()
  await eventually(() => story.made() === 2, patience)
  // Every try to start it is refused; a few of them are enough to tell.
  await new Promise((resolve) => setTimeout(resolve, 1000))
  expect(story.firings().at(-1)?.status?.admission).toBeUndefined()
  story.deaf.hear()
  await expectRunOnce(story)
})
