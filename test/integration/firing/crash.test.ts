import { describe, expect, it } from 'vitest'
import { ContentFiles } from '../../../src/gateway/contents.ts'
import { isSettledFiring } from '../../../src/reconcilers/automation-firing/phase.ts'
import type { Write } from '../../../src/runtime/writer.ts'
import { eventually } from '../../kit/eventually.ts'
import { fileContents, type Operator, startOperator } from '../../kit/operator.ts'
import { temporaryFolder } from '../../kit/temporary-folder.ts'
import { heldCommand, triageGraph, Workspace } from './workspace.ts'

const script = { triage: JSON.stringify({ escalate: true }), escalate: 'paged' }

/** A manager that dies at one of its writes: none of its writes is sent after that. */
async function startDoomed(workspace: Workspace, options: { at: number; moment: 'before' | 'after'; folder: string }) {
  let isDead = false
  let died = () => {}
  const death = new Promise<void>((resolve) => {
    died = resolve
  })
  const faults = (moment: 'before' | 'after', { number }: Write) => {
    if (moment === options.moment && number === options.at) isDead = true
    if (!isDead) return
    died()
    throw new Error('the manager was killed')
  }
  const contents = fileContents(await ContentFiles.open(options.folder))
  const operator = await startOperator(workspace.client, workspace.namespace, { contents, faults })
  return { operator, death }
}

async function untilSettledOr(workspace: Workspace, death: Promise<void>): Promise<boolean> {
  let isDead = false
  void death.then(() => {
    isDead = true
  })
  while (!isDead) {
    if (isSettledFiring(await workspace.firing())) return true
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  return false
}

describe('a manager that is killed again and again', () => {
  it.each(['before', 'after'] as const)(
    '[A-301] [A-310] %s each of its writes: one Session per step, one Run per Session, one Job per Run',
    async (moment) => {
      const workspace = await Workspace.create(script)
      const folder = temporaryFolder()
      const first: Operator = await startOperator(workspace.client, workspace.namespace)
      await workspace.applyGraph(triageGraph)
      await first.stop()
      await workspace.fire({ event: { title: 'Disk full' } })
      let kills = 0
      for (let isSettled = false; !isSettled; kills++) {
        // A manager begins with a few writes that are not about the firing; it dies at one of the next.
        const { operator, death } = await startDoomed(workspace, { at: 3 + (kills % 4), moment, folder })
        isSettled = await untilSettledOr(workspace, death)
        await operator.stop()
        if (kills > 100) throw new Error(`no end: ${JSON.stringify((await workspace.firing()).status)}`)
      }
      const firing = await workspace.settled()
      expect(firing.status).toMatchObject({
        phase: 'Succeeded',
        steps: {
          triage: { kind: 'completed' },
          verdict: { kind: 'completed' },
          urgent: { kind: 'completed', arm: 'continue' },
          escalate: { kind: 'completed', output: { inline: 'paged' } },
          log: { kind: 'skipped' },
        },
      })
      const steps = (objects: { spec: { step: string } }[]) => objects.map(({ spec }) => spec.step).sort()
      expect(steps(await workspace.sessions())).toEqual(['escalate', 'triage'])
      expect(steps(await workspace.runs())).toEqual(['escalate', 'triage'])
      expect(await workspace.jobs()).toHaveLength(2)
      expect(kills).toBeGreaterThan(5)
    },
    120_000,
  )

  it.each(['before', 'after'] as const)(
    '[A-290] %s each of its writes of a cancellation: all ends, and nothing is taken for lost',
    async (moment) => {
      const workspace = await Workspace.create({ agent: heldCommand().line })
      const folder = temporaryFolder()
      const first: Operator = await startOperator(workspace.client, workspace.namespace)
      await workspace.automate()
      await workspace.fire()
      await workspace.runIn('Running')
      await first.stop()
      await workspace.cancel('wrong event')
      let kills = 0
      for (let isSettled = false; !isSettled; kills++) {
        const { operator, death } = await startDoomed(workspace, { at: moment === 'after' ? 3 : 4, moment, folder })
        isSettled = await untilSettledOr(workspace, death)
        await operator.stop()
        if (kills > 100) throw new Error(`no end: ${JSON.stringify((await workspace.firing()).status)}`)
      }
      expect((await workspace.settled()).status).toMatchObject({ phase: 'Cancelled', result: 'cancelled' })
      expect(kills).toBeGreaterThan(3)
      await startOperator(workspace.client, workspace.namespace)
      await eventually(async () => expect((await workspace.firing()).metadata.finalizers).toBeUndefined())
      expect((await workspace.runs()).map(({ status }) => status?.phase)).toEqual(['Cancelled'])
      expect(await workspace.sessions()).toHaveLength(1)
      await eventually(async () => expect(await workspace.jobs()).toEqual([]))
    },
    120_000,
  )

  it('[A-310] two managers at once make one of everything', async () => {
    const workspace = await Workspace.create(script)
    const contents = fileContents(await ContentFiles.open(temporaryFolder()))
    await startOperator(workspace.client, workspace.namespace, { contents })
    await startOperator(workspace.client, workspace.namespace, { contents })
    await workspace.applyGraph(triageGraph)
    await workspace.fire({ event: { title: 'Disk full' } })
    expect((await workspace.settled()).status?.phase).toBe('Succeeded')
    expect(await workspace.sessions()).toHaveLength(2)
    expect(await workspace.runs()).toHaveLength(2)
    expect(await workspace.jobs()).toHaveLength(2)
  })
})
