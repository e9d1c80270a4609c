import { describe, expect, it } from 'vitest'
import { annotations, labels } from '../../../src/api/labels.ts'
import type { Run, RunStatus } from '../../../src/api/run.ts'
import type { Session } from '../../../src/api/session.ts'
import { childName } from '../../../src/lib/names.ts'
import { ownedBy } from '../../../src/lib/owner-references.ts'
import { deepFreeze } from '../../../src/lib/readonly.ts'
import { reconcileSession } from '../../../src/reconcilers/session.ts'
import { aRun, aSession, createdAt, inlineContent } from '../../kit/builders.ts'
import { lintStatus } from '../../kit/lint-status.ts'
import { type ContextGiven, reconcileContext } from '../../kit/reconcile-context.ts'

async function reconcile(session: Session, given: ContextGiven = {}) {
  const result = await reconcileSession(deepFreeze(session), reconcileContext(given))
  const { status } = result
  if (status !== undefined) {
    expect(lintStatus({ ...session, status: { ...status, observedGeneration: 1 } } as never)).toEqual([])
  }
  return result
}

const session = aSession()
const runName = childName(session.spec.firing.uid, 'triage', 0, 0, 0)
const started = aSession({ status: { phase: 'Pending', runs: 1 } })

function runOf(status?: RunStatus): Run {
  return aRun({ name: runName, metadata: { ownerReferences: [ownedBy(session)] }, status })
}

describe('a Session', () => {
  it('does not take the Run of another Session for its own, whatever that is made to say', async () => {
    const { metadata } = runOf()
    const borrowed = aRun({
      name: 'of-another',
      metadata: { ownerReferences: metadata.ownerReferences ?? [] },
      spec: { session: { name: 'triage-session', uid: 'uid-of-another' } },
      status: { phase: 'Succeeded', output: inlineContent('theirs') },
    })
    const { status } = await reconcile(started, { cached: [borrowed], live: [runOf({ phase: 'Running' })] })
    expect(status).toMatchObject({ phase: 'Running' })
    expect(status?.output).toBeUndefined()
  })

  it('[A-280] makes its first Run, whose name follows from firing, step, item, attempt and number', async () => {
    const own = { [labels.firing]: 'triage-manual-1', [labels.step]: 'triage', 'argocd.argoproj.io/instance': 'x' }
    const labelled = aSession({ metadata: { labels: own } })
    const { create, status } = await reconcile(labelled)
    expect(create).toEqual([
      {
        apiVersion: 'graphwright.dev/v1alpha1',
        kind: 'Run',
        metadata: {
          name: runName,
          namespace: 'default',
          labels: {
            [labels.firing]: 'triage-manual-1',
            [labels.step]: 'triage',
            [labels.session]: 'triage-session',
          },
        },
        spec: {
          session: { name: 'triage-session', uid: 'uid-of-triage-session' },
          firing: session.spec.firing,
          step: 'triage',
          sequence: 0,
        },
      },
    ])
    expect(status).toMatchObject({ phase: 'Pending', runs: 1 })
  })

  it('adopts a Run that was made before a crash', async () => {
    const { create, status } = await reconcile(session, { cached: [runOf({ phase: 'Running' })] })
    expect(create).toBeUndefined()
    expect(status).toMatchObject({ phase: 'Running', runs: 1 })
  })

  it.each<[RunStatus, string]>([
    [{ phase: 'Succeeded', output: inlineContent('done'), usage: { tokens: 12, costMicrousd: 34 } }, 'True'],
    [{ phase: 'Failed', reason: 'CommandFailed', message: 'The command failed.' }, 'False'],
    [{ phase: 'Cancelled', reason: 'Cancelled' }, 'False'],
    [{ phase: 'Indeterminate', reason: 'OutcomeUnknown', message: 'The node was lost.' }, 'Unknown'],
    [{ phase: 'Waiting', reason: 'QuotaExceeded', message: 'Raise the quota.' }, 'Unknown'],
  ])('shows how its Run fares: %o', async (run, succeeded) => {
    const { status } = await reconcile(started, { cached: [runOf(run)] })
    const { usage, ...shown } = run
    expect(status).toMatchObject({
      ...shown,
      ...usage,
      runs: 1,
      conditions: [{ type: 'Succeeded', status: succeeded }],
    })
  })

  it('an unknown outcome may still become known, a settled one never changes', async () => {
    const unknown = aSession({ status: { phase: 'Indeterminate', runs: 1 } })
    const { status } = await reconcile(unknown, { cached: [runOf({ phase: 'Succeeded' })] })
    expect(status?.phase).toBe('Succeeded')
    const settled = aSession({ status: { phase: 'Failed', runs: 1 } })
    expect(await reconcile(settled, { cached: [runOf({ phase: 'Succeeded' })] })).toEqual({ annotate: [] })
  })

  it('a Run that was deleted fails it; one that the cache lacks is looked for', async () => {
    const { status, create } = await reconcile(started)
    expect(create).toBeUndefined()
    expect(status).toMatchObject({ phase: 'Failed', reason: 'RunDeleted' })
    const found = await reconcile(started, { cached: [], live: [runOf({ phase: 'Running' })] })
    expect(found.status).toMatchObject({ phase: 'Running' })
  })

  describe('that is to end', () => {
    const asked = { annotations: { [annotations.cancelRequested]: 'wrong event' } }
    const request = { annotations: asked.annotations, ref: { kind: 'Run', name: runName } }

    it('[A-290] hands that on to its Run, and shows what it comes to', async () => {
      const running = aSession({ metadata: asked, status: { phase: 'Running', runs: 1 } })
      const { annotate, status } = await reconcile(running, { cached: [runOf({ phase: 'Running' })] })
      expect(annotate).toMatchObject([request])
      expect(status).toMatchObject({ phase: 'Running' })
      const over = runOf({ phase: 'Succeeded', settledAt: createdAt, output: inlineContent('done') })
      const ended = await reconcile(running, { cached: [over] })
      expect(ended).toMatchObject({ annotate: [], status: { phase: 'Succeeded' } })
    })

    it('makes no Run, unless one was made before that no cache shows', async () => {
      const fresh = aSession({ metadata: asked })
      const { create, status } = await reconcile(fresh)
      expect(create).toBeUndefined()
      expect(status).toMatchObject({ phase: 'Cancelled', reason: 'Cancelled', runs: 0 })
      const { annotate, status: shown } = await reconcile(fresh, { cached: [], live: [runOf({ phase: 'Pending' })] })
      expect(annotate).toMatchObject([request])
      expect(shown).toMatchObject({ phase: 'Pending' })
    })

    it('has a Run end that appears after it has settled', async () => {
      const settled = aSession({ metadata: asked, status: { phase: 'Cancelled', runs: 0 } })
      expect((await reconcile(settled, { cached: [runOf()] })).annotate).toMatchObject([request])
    })
  })
})
