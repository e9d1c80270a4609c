import { expect, it } from 'vitest'
import { createAutomationReconciler } from '../../../src/reconcilers/automation.ts'
import { aFiring, anAutomation } from '../../kit/builders.ts'
import { reconcileContext } from '../../kit/reconcile-context.ts'

const listed = (...names: string[]) => names.map((name) => ({ name, uid: `uid-of-${name}` }))

it('a firing that settles, goes or is deleted gives its place back, whatever keeps the object', async () => {
  const deletionTimestamp = '2026-11-30T12:00:00Z'
  const kept = { deletionTimestamp, finalizers: ['example.com/keeps'] }
  const firings = [
    aFiring({ name: 'runs', status: { phase: 'Running' } }),
    aFiring({ name: 'ended', status: { phase: 'Succeeded' } }),
    aFiring({ name: 'deleted', status: { phase: 'Running' }, metadata: kept }),
    aFiring({ name: 'waits' }),
    aFiring({ name: 'waits-deleted', metadata: kept }),
  ]
  const status = { active: listed('runs', 'ended', 'deleted', 'gone'), pending: listed('waits', 'waits-deleted') }
  const context = reconcileContext({})
  const read = { ...context.read, byIndex: () => firings as never }
  const result = await createAutomationReconciler('manager')(anAutomation({ status }), { ...context, read })
  expect(result.status).toMatchObject({ active: listed('runs'), pending: listed('waits') })
})

it('a firing that another manager has listed keeps its place before it is seen here', async () => {
  const live = [
    aFiring({ name: 'runs', status: { phase: 'Running' } }),
    aFiring({ name: 'ended', status: { phase: 'Succeeded' } }),
    aFiring({ name: 'made-again', metadata: { uid: 'another' } }),
    aFiring({ name: 'waits' }),
  ]
  const status = { active: listed('runs', 'ended', 'made-again', 'gone'), pending: listed('waits') }
  const context = reconcileContext({ live })
  const read = { ...context.read, byIndex: () => [] }
  const result = await createAutomationReconciler('manager')(
    anAutomation({ status, spec: { concurrencyPolicy: 'Forbid' } }),
    { ...context, read },
  )
  expect(result.status).toMatchObject({ active: listed('runs') })
  expect(result.status?.pending?.map(({ name }) => name)).toEqual(['waits'])
})
