import { beforeEach, describe, expect, it } from 'vitest'
import { eventType } from '../../../src/kube/core-types.ts'
import { conditionOf } from '../../../src/runtime/conditions.ts'
import { eventually } from '../../kit/eventually.ts'
import { lintStatus } from '../../kit/lint-status.ts'
import { type Operator, startOperator } from '../../kit/operator.ts'
import { Workspace } from './workspace.ts'

let workspace: Workspace
let operator: Operator

beforeEach(async () => {
  workspace = await Workspace.create()
  operator = await startOperator(workspace.client, workspace.namespace)
  await workspace.applyGraph()
  await workspace.applyPlan(1)
  await workspace.graphIs('InSync', 'True', 'InSync')
})

/** What the graph says about drift, once it names all of these. */
function told(...names: readonly string[]): Promise<string> {
  return eventually(async () => {
    const graph = await workspace.graph()
    const inSync = conditionOf(graph.status?.conditions, 'InSync')
    const message = inSync?.message ?? ''
    if (!names.every((name) => message.includes(name))) throw new Error(`it says ${inSync?.reason}: ${message}`)
    expect(inSync?.status).toBe('False')
    lintStatus(graph)
    return message
  })
}

/** Notes of the events of the graph for this reason. */
async function notesOf(reason: string): Promise<string[]> {
  const { items } = await workspace.client.list(eventType, { namespace: workspace.namespace })
  return items.filter((event) => event.reason === reason).map(({ note }) => note ?? '')
}

describe('an Automation that somebody changes past its graph', () => {
  it('[A-036] is reported with each field and the field manager that wrote it, and is left as it is', async () => {
    await workspace.editAutomation({ serviceAccountName: 'somebody', paused: true }, 'night-shift')
    await told('serviceAccountName (written by night-shift)')
    await workspace.editAutomation({ environment: 'elsewhere' }, 'kubectl-edit')
    const message = await told('environment (written by kubectl-edit)', 'serviceAccountName (written by night-shift)')
    expect(message).toContain('set driftPolicy: Correct')
    expect(message).not.toContain('paused')
    expect((await workspace.graph()).status?.drift).toBe('environment, serviceAccountName')
    expect((await workspace.automation())?.spec).toMatchObject({ environment: 'elsewhere', paused: true })
    await eventually(async () => (await notesOf('Drifted')).some((note) => note.includes('night-shift')))
    expect((await workspace.plans()).length).toBe(1)
  })

  it('[A-036] says the same after a restart, and writes nothing for it', async () => {
    await workspace.editAutomation({ environment: 'elsewhere' }, 'night-shift')
    await told('environment (written by night-shift)')
    // The Automation finds that there is no such Environment, which the graph shows as well: a write of its own.
    await eventually(async () => conditionOf((await workspace.graph()).status?.conditions, 'Ready')?.status === 'False')
    const before = (await workspace.graph()).metadata.resourceVersion
    await startOperator(workspace.client, workspace.namespace)
    // A change that the second manager answers: by then it has looked at the graph.
    await workspace.editAutomation({ paused: true }, 'night-shift')
    await eventually(async () => (await workspace.automation())?.status?.state === 'Paused')
    expect((await workspace.graph()).metadata.resourceVersion).toBe(before)
  })

  it('[A-036] driftPolicy Correct puts every managed field back without a new plan, and leaves `paused` alone', async () => {
    const applied = (await workspace.automation())?.spec
    const triggers = [{ id: 'nightly', kind: 'schedule', cron: '0 3 * * *', timezone: 'UTC' }]
    const target = { agent: { name: 'triager' }, program: null }
    const edits = { environment: 'elsewhere', serviceAccountName: 'somebody', triggers, target, paused: true }
    await workspace.editAutomation(edits, 'night-shift')
    await told('environment', 'serviceAccountName', 'triggers', 'target', 'night-shift')
    await workspace.applyGraph({ driftPolicy: 'Correct' })
    await workspace.graphIs('InSync', 'True', 'InSync')
    expect((await workspace.automation())?.spec).toEqual({ ...applied, paused: true })
    expect((await workspace.plans()).length).toBe(1)
  })

  it('[A-036] what is put back at once is told in an event', async () => {
    await workspace.applyGraph({ driftPolicy: 'Correct' })
    await workspace.editAutomation({ serviceAccountName: 'somebody' }, 'night-shift')
    await eventually(async () => (await workspace.automation())?.spec.serviceAccountName === 'triage')
    await eventually(async () =>
      (await notesOf('Drifted')).some(
        (note) => note.includes('serviceAccountName') && note.includes('It is being put back'),
      ),
    )
    await workspace.graphIs('InSync', 'True', 'InSync')
  })

  it('[A-036] is told and put back also in what the graph does not set, by one write that leaves `paused` alone', async () => {
    const applied = await workspace.automation()
    const edits = { concurrencyPolicy: 'Forbid', jitterSeconds: 60, history: { ttlSeconds: 86400 }, paused: true }
    await workspace.editAutomation(edits, 'night-shift')
    const message = await told('concurrencyPolicy, jitterSeconds, history.ttlSeconds (written by night-shift)')
    expect(message).not.toContain('paused')
    await workspace.applyGraph({ driftPolicy: 'Correct' })
    await workspace.graphIs('InSync', 'True', 'InSync')
    const corrected = await workspace.automation()
    expect(corrected?.spec).toEqual({ ...applied?.spec, paused: true })
    // The edit and its correction, and no other write of the spec.
    expect(corrected?.metadata.generation).toBe((applied?.metadata.generation ?? 0) + 2)
    expect((await workspace.plans()).length).toBe(1)
  })

  it('[A-036] two managers put it back once', async () => {
    await startOperator(workspace.client, workspace.namespace)
    await workspace.applyGraph({ driftPolicy: 'Correct' })
    const before = (await workspace.automation())?.metadata.generation ?? 0
    await workspace.editAutomation({ concurrencyPolicy: 'Replace', paused: true }, 'night-shift')
    await eventually(async () => (await workspace.automation())?.spec.concurrencyPolicy === 'Allow')
    await workspace.graphIs('InSync', 'True', 'InSync')
    const after = await workspace.automation()
    expect(after?.spec.paused).toBe(true)
    expect(after?.metadata.generation).toBe(before + 2)
  })
})

it('[A-036] a correction that comes late undoes nothing that it has not seen', async () => {
  const applied = (await workspace.automation())?.spec
  await operator.stop()
  const written: string[] = []
  await startOperator(workspace.client, workspace.namespace, {
    faults: async (moment, { verb }) => {
      if (verb !== 'patch') return
      if (moment === 'before' && written.length === 0) {
        await workspace.editAutomation({ history: { ttlSeconds: 86400 }, paused: true }, 'day-shift')
      }
      written.push(moment)
    },
  })
  await workspace.editAutomation({ concurrencyPolicy: 'Forbid' }, 'night-shift')
  await workspace.applyGraph({ driftPolicy: 'Correct' })
  await eventually(() => written.includes('after'))
  await workspace.graphIs('InSync', 'True', 'InSync')
  expect((await workspace.automation())?.spec).toEqual({ ...applied, paused: true })
  expect(written.slice(0, 2)).toEqual(['before', 'before']) // the first was refused
  expect(written.filter((moment) => moment === 'after')).toEqual(['after'])
})

describe('policies of a graph', () => {
  it('[A-033] are planned, applied, shown as no drift, and taken away by a plan again', async () => {
    const applied = (await workspace.automation())?.spec
    await workspace.applyGraph({ concurrencyPolicy: 'Forbid', history: { ttlSeconds: 86400 } } as never)
    const plan = await workspace.applyPlan(2)
    expect(plan.spec.content.dispositions.at(-1)).toMatchObject({
      action: 'Update',
      fields: ['concurrencyPolicy', 'history.ttlSeconds'],
    })
    await workspace.graphIs('InSync', 'True', 'InSync')
    const spec = (await workspace.automation())?.spec
    expect(spec).toMatchObject({ concurrencyPolicy: 'Forbid', history: { ttlSeconds: 86400, failedLimit: 1 } })

    const first = await workspace.fire('triage-manual-1')
    await eventually(async () => (await workspace.automation())?.status?.active?.[0]?.name === first.metadata.name)
    await workspace.fire('triage-manual-2')
    await eventually(async () => {
      const { status } = await workspace.firing('triage-manual-2')
      if (status?.phase !== 'Skipped') throw new Error(`it is ${status?.phase}`)
      expect(status.reason).toBe('ConcurrencyForbidden')
    })

    await workspace.applyGraph()
    await workspace.applyPlan(3)
    await workspace.graphIs('InSync', 'True', 'InSync')
    expect((await workspace.automation())?.spec).toEqual(applied)
  })
})
