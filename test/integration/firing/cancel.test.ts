import { describe, expect, it } from 'vitest'
import { annotations, settleFinalizer } from '../../../src/api/labels.ts'
import { isSettledFiring } from '../../../src/reconcilers/automation-firing/phase.ts'
import { eventually } from '../../kit/eventually.ts'
import { startOperator } from '../../kit/operator.ts'
import { startHeldChain } from './held-chain.ts'
import { heldCommand, Workspace } from './workspace.ts'

/** The garbage collector learns of new kinds every half minute. */
const collected = { timeout: 45_000 }

/** Nothing that was started for a firing is left, the Sessions and Runs that tell of it apart. */
async function expectNothingRuns(workspace: Workspace): Promise<void> {
  await eventually(async () => {
    expect(await workspace.jobs()).toEqual([])
    expect(await workspace.pods()).toEqual([])
  }, collected)
}

describe('cancelling a firing', () => {
  it('[A-290] ends its Session, Run, Job and pod, and then it is Cancelled', async () => {
    const { workspace } = await startHeldChain()
    expect((await workspace.firing()).metadata.finalizers).toEqual([settleFinalizer])
    await workspace.cancel('wrong event')
    const firing = await workspace.settled()
    expect(firing.status).toMatchObject({
      phase: 'Cancelled',
      reason: 'Cancelled',
      result: 'cancelled',
      message: 'It was cancelled by request (wrong event).',
      steps: { triage: { kind: 'failed', reason: 'cancelled' } },
    })
    expect(Object.keys(firing.status?.steps ?? {})).toEqual(['triage'])
    const [[session], [run, ...others]] = await Promise.all([workspace.sessions(), workspace.runs()])
    expect(session?.status).toMatchObject({ phase: 'Cancelled', reason: 'Cancelled' })
    expect(run?.status).toMatchObject({ phase: 'Cancelled', cause: 'Cancelled', exitCode: 143 })
    expect(run?.status?.logs).toBeUndefined()
    expect(others).toEqual([])
    await expectNothingRuns(workspace)
    await eventually(async () => {
      expect((await workspace.firing()).metadata.finalizers).toBeUndefined()
      expect((await workspace.automation()).status).toMatchObject({ active: [], last: { result: 'Cancelled' } })
    })
  })

  it('before it was admitted, it ends without a Session', async () => {
    const workspace = await Workspace.create()
    await workspace.createAutomation()
    await workspace.fire()
    await workspace.cancel('changed my mind')
    await startOperator(workspace.client, workspace.namespace)
    expect((await workspace.settled()).status).toMatchObject({ phase: 'Cancelled', result: 'cancelled' })
    expect(await workspace.sessions()).toEqual([])
  })

  it('a result that was recorded before wins', async () => {
    const workspace = await Workspace.create({ agent: 'all good' })
    await startOperator(workspace.client, workspace.namespace)
    await workspace.automate()
    await workspace.fire()
    await workspace.settled()
    await workspace.cancel('too late')
    // Another one goes all the way through the same controllers meanwhile.
    await workspace.fire({}, 'triage-manual-2')
    await workspace.settled('triage-manual-2')
    expect((await workspace.firing()).status).toMatchObject({ phase: 'Succeeded', result: 'completed' })
  })

  it('[A-291] says that a command that does not listen is waited for, and ends when it has', async () => {
    const held = heldCommand()
    const workspace = await Workspace.create({ agent: { ...held.line, deaf: true } })
    await startOperator(workspace.client, workspace.namespace)
    await workspace.automate()
    await workspace.fire()
    await workspace.runIn('Running')
    await workspace.cancel('wrong event')
    const { status } = await workspace.inPhase('Running', 'Cancelling')
    expect(status?.message).toBe(
      'It is being cancelled by request (wrong event); what is under way is told to end: agent.',
    )
    await eventually(async () => expect((await workspace.runs())[0]?.status?.reason).toBe('Cancelling'))
    await eventually(async () => expect(await workspace.jobs()).toEqual([]))
    expect(isSettledFiring(await workspace.firing())).toBe(false)
    held.release()
    // That it ended well after all is no result any more.
    expect((await workspace.settled()).status).toMatchObject({ phase: 'Cancelled' })
    expect((await workspace.runs())[0]?.status).toMatchObject({ phase: 'Cancelled', exitCode: 0 })
  })

  it('replacing by concurrencyPolicy cancels the one under way, and starts the next when that has settled', async () => {
    const workspace = await Workspace.create({ agent: heldCommand().line })
    await startOperator(workspace.client, workspace.namespace)
    await workspace.createAutomation({ concurrencyPolicy: 'Replace' })
    await workspace.automationReady()
    await workspace.fire()
    await workspace.runIn('Running')
    await workspace.fire({}, 'triage-manual-2')
    expect((await workspace.settled()).status).toMatchObject({
      phase: 'Cancelled',
      message: expect.stringContaining('concurrencyPolicy Replace'),
    })
    const next = await eventually(async () => {
      const { status } = await workspace.firing('triage-manual-2')
      expect(status?.startedAt).toBeDefined()
      return status
    })
    const first = (await workspace.firing()).status
    expect(Date.parse(next?.startedAt ?? '')).toBeGreaterThanOrEqual(Date.parse(first?.settledAt ?? ''))
    await workspace.delete('AutomationFiring', 'triage-manual-2')
  })
})

describe('deleting a firing', () => {
  async function underWay(deaf: boolean) {
    const held = heldCommand()
    const workspace = await Workspace.create({ agent: { ...held.line, deaf } })
    await startOperator(workspace.client, workspace.namespace)
    await workspace.automate()
    await workspace.fire()
    await workspace.runIn('Running')
    return { workspace, held }
  }
  const firings = (workspace: Workspace) =>
    workspace.firings().then((list) => list.map(({ metadata }) => metadata.name))

  it('cancels it, says what it waits for, and lets it go when that has settled', async () => {
    const { workspace, held } = await underWay(true)
    await workspace.delete('AutomationFiring', 'triage-manual-1')
    const { status, metadata } = await workspace.inPhase('Running', 'Cancelling')
    expect(status?.message).toContain('the firing was deleted')
    expect(metadata.finalizers).toEqual([settleFinalizer])
    held.release()
    await eventually(async () => expect(await firings(workspace)).toEqual([]))
    await expectNothingRuns(workspace)
    await eventually(
      async () => expect([await workspace.sessions(), await workspace.runs()]).toEqual([[], []]),
      collected,
    )
  })

  it('with everything that owns it, in either order of the garbage collector', async () => {
    for (const propagation of ['Background', 'Foreground'] as const) {
      const { workspace } = await underWay(false)
      await workspace.deleteAutomation(propagation)
      await eventually(async () => expect(await firings(workspace)).toEqual([]), collected)
      await expectNothingRuns(workspace)
    }
  })

  it('by force lets it go at once, and what runs goes with it', async () => {
    const { workspace, held } = await underWay(true)
    await workspace.annotate({ [annotations.forceDelete]: 'yes' })
    expect((await workspace.firing()).status?.phase).toBe('Running')
    await workspace.delete('AutomationFiring', 'triage-manual-1')
    await eventually(async () => expect(await firings(workspace)).toEqual([]))
    await eventually(async () => expect(await workspace.jobs()).toEqual([]), collected)
    held.release()
    await expectNothingRuns(workspace)
  })
})
