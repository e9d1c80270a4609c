import { expect, it } from 'vitest'
import { eventually } from '../../kit/eventually.ts'
import { startOperator } from '../../kit/operator.ts'
import { Workspace } from '../graph/workspace.ts'
import { cliIn } from './support.ts'

const prompts = (prompt: string) => ({
  nodes: [
    { id: 'by-hand', kind: 'trigger' as const, trigger: { kind: 'manual' as const } },
    { id: 'triage', kind: 'step_agent' as const, agent: 'triager', prompt },
  ],
})

it('undo gives a graph the document of an earlier revision again, for a new plan to review', async () => {
  const workspace = await Workspace.create()
  await startOperator(workspace.client, workspace.namespace)
  const cli = cliIn(workspace.namespace)
  await workspace.applyGraph({ ...prompts('First.'), layout: { x: 1 } })
  await workspace.applyPlan(1)
  await workspace.graphIs('Applied', 'True', 'Applied')
  await workspace.applyGraph({ ...prompts('Second.'), layout: { x: 2 } })
  await workspace.applyPlan(2)
  await workspace.graphIs('Applied', 'True', 'Applied')
  const applied = (await workspace.automation())?.spec.target.program?.name

  expect(await cli(['undo', 'triage', '--to-revision', '7'])).toMatchObject({
    code: 2,
    err: expect.stringMatching(/^error: not_found: .*no plan of revision 7 .*kept are: 1, 2/),
  })
  expect(await cli(['undo', 'triage', '--to-revision', 'x'])).toMatchObject({ code: 2 })
  const same = await cli(['undo', 'triage', '--to-revision', '2', '-o', 'json'])
  expect(JSON.parse(same.out)).toMatchObject({ changed: false, plan: null })

  const undone = await cli(['undo', 'triage', '--to-revision', '1', '-o', 'json'])
  expect(undone).toMatchObject({ code: 0, err: '' })
  expect(JSON.parse(undone.out)).toMatchObject({
    kind: 'undone',
    toRevision: 1,
    changed: true,
    plan: { name: 'triage-3', dispositions: expect.arrayContaining([expect.objectContaining({ action: 'Update' })]) },
  })
  const graph = await workspace.graph()
  expect(graph.spec.nodes[1]).toMatchObject({ prompt: 'First.' })
  expect(graph.spec.layout).toEqual({ x: 2 })
  // Nothing runs differently before the plan is approved.
  expect((await workspace.automation())?.spec.target.program?.name).toBe(applied)

  expect(await cli(['approve', 'triage'])).toMatchObject({ code: 0 })
  await workspace.planIn(3, 'Applied')
  await eventually(async () => (await workspace.automation())?.spec.target.program?.name !== applied)

  const back = await cli(['undo', 'triage', '--to-revision', '1'])
  expect(back.out).toContain('has the document of revision 1 already')
})
