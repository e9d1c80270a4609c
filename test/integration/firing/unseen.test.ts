import { expect, it, onTestFinished } from 'vitest'
import { automation } from '../../../src/api/automation.ts'
import { automationFiring } from '../../../src/api/automation-firing.ts'
import { kinds } from '../../../src/api/kinds.ts'
import { DeafClient } from '../../kit/deaf-client.ts'
import { eventually } from '../../kit/eventually.ts'
import { startOperator } from '../../kit/operator.ts'
import { Workspace } from './workspace.ts'

it('a manager that does not see a firing yet leaves it the place that another has given it', async () => {
  const workspace = await Workspace.create({ triage: { command: () => new Promise(() => {}) } })
  const { client, namespace } = workspace
  const deaf = new DeafClient(automationFiring, kinds)
  onTestFinished(() => deaf.transport.close())
  onTestFinished(() => deaf.hear())
  await startOperator(client, namespace)
  const behind = await startOperator(deaf, namespace)
  await workspace.createAutomation({ concurrencyPolicy: 'Forbid' })
  await workspace.automationReady()
  deaf.goDeaf()

  const { metadata } = await workspace.fire()
  await workspace.inPhase('Running')
  await eventually(() => behind.manager.read.get(automation, `${namespace}/triage`)?.status?.active?.length === 1)
  await workspace.fire({}, 'triage-manual-2')
  const second = await workspace.settled('triage-manual-2')
  expect(second.status).toMatchObject({ phase: 'Skipped', reason: 'ConcurrencyForbidden' })
  const { status } = await workspace.automation()
  expect(status?.active).toEqual([{ name: metadata.name, uid: metadata.uid }])
})
