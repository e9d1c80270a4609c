import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { beforeEach, describe, expect, inject, it } from 'vitest'
import { automationFiring } from '../../../src/api/automation-firing.ts'
import { aFiring, aGraph, anAutomation, unsaved } from '../../kit/builders.ts'
import { eventually } from '../../kit/eventually.ts'
import { startOperator } from '../../kit/operator.ts'
import { temporaryFolder } from '../../kit/temporary-folder.ts'
import { Workspace } from './workspace.ts'

const run = promisify(execFile)

let workspace: Workspace

beforeEach(async () => {
  workspace = await Workspace.create()
})

/** What kubectl prints when it sends the object: its answer, or its complaint. */
async function sent(verb: 'create' | 'apply', object: object): Promise<string> {
  const file = join(temporaryFolder(), 'object.json')
  await writeFile(file, JSON.stringify(object))
  const tool = new URL('../../../hack/cluster/cluster', import.meta.url).pathname
  const options = verb === 'apply' ? ['--server-side'] : []
  return run(tool, ['kubectl', '--kubeconfig', inject('kubeconfig'), verb, ...options, '-f', file]).then(
    ({ stdout }) => stdout,
    ({ stderr }: { stderr: string }) => stderr,
  )
}

function graphWith(spec: NonNullable<Parameters<typeof aGraph>[0]>['spec']): object {
  return unsaved(aGraph({ spec: spec ?? {} }), workspace.namespace)
}

function firingWith(bytes: number): object {
  return unsaved(aFiring({ spec: { event: 'x'.repeat(bytes) } }), workspace.namespace)
}

describe('what is too large, sent by kubectl', () => {
  it('layout and sample event: the graph names field and size, and has no plan', async () => {
    await startOperator(workspace.client, workspace.namespace)
    await sent('apply', graphWith({ layout: { note: 'x'.repeat(20_000) }, sampleEvent: 'x'.repeat(17_000) }))
    const graph = await workspace.graphIs('Valid', 'False', 'Invalid')
    expect(graph.status?.errors).toEqual([
      { code: 'limit_exceeded', detail: expect.stringMatching(/^layout has 20011 bytes as JSON, at most 16384/) },
      { code: 'limit_exceeded', detail: expect.stringMatching(/^sampleEvent has 17002 bytes as JSON, at most 16384/) },
    ])
    expect(await workspace.plans()).toEqual([])
  })

  it('a document: the graph says by how much', async () => {
    await startOperator(workspace.client, workspace.namespace)
    const steps = ['a', 'b', 'c'].map((id) => ({
      id,
      kind: 'step_agent' as const,
      agent: 'triager',
      prompt: 'x'.repeat(50_000),
    }))
    const trigger = { id: 'by-hand', kind: 'trigger' as const, trigger: { kind: 'manual' as const } }
    const edges = steps.map(({ id }) => ({ kind: 'starts' as const, from: 'by-hand', to: id }))
    await sent('apply', graphWith({ nodes: [trigger, ...steps], edges }))
    const { status } = await workspace.graphIs('Valid', 'False', 'Invalid')
    expect(status?.errors).toEqual([
      {
        code: 'limit_exceeded',
        detail: expect.stringMatching(/^the document has 15\d{4} bytes as JSON, at most 131072/),
      },
    ])
  })

  it('an event over 256 KiB: its firing fails with what to do instead', async () => {
    await startOperator(workspace.client, workspace.namespace)
    await workspace.client.create(unsaved(anAutomation(), workspace.namespace))
    expect(await sent('create', firingWith(300_000))).toContain('created')
    const ref = { name: 'triage-manual-1', namespace: workspace.namespace }
    const { status } = await eventually(async () => {
      const firing = await workspace.client.get(automationFiring, ref)
      if (firing.status?.phase !== 'Failed') throw new Error(`the firing is ${firing.status?.phase}`)
      return firing
    })
    expect(status).toMatchObject({ reason: 'EventTooLarge', message: expect.stringContaining('256 KiB') })
    expect(status?.admission).toBeUndefined()
  })

  it.each([
    [1800, 'request is too large'],
    [4000, 'limit is 3145728'],
  ])('an event of %i KiB: the API server refuses it in one line', async (size, message) => {
    const answer = await sent('create', firingWith(size * 1024))
    expect(answer).toContain(message)
    expect(answer.trim().split('\n')).toHaveLength(1)
    const { items } = await workspace.client.list(automationFiring, { namespace: workspace.namespace })
    expect(items).toEqual([])
  })
})
