import { describe, expect, it } from 'vitest'
import { type AutomationProgram, automationProgram } from '../../../src/api/automation-program.ts'
import { formatVersion } from '../../../src/api/program.ts'
import type { JsonObject } from '../../../src/lib/json.ts'
import { eventually } from '../../kit/eventually.ts'
import { type Operator, startOperator } from '../../kit/operator.ts'
import { startHeldChain } from './held-chain.ts'
import { chainGraph, Workspace } from './workspace.ts'

/** What becomes of a stored program: that of a newer release, or one from which something was taken. */
const unreadable = [
  ['ProgramTooNew', (spec: JsonObject) => ({ ...spec, formatVersion: formatVersion + 1 }), /made by a newer operator/],
  ['ProgramTooNew', (spec: JsonObject) => ({ ...spec, formatVersion: 2 ** 53 - 1 }), /made by a newer operator/],
  ['ProgramDamaged', (spec: JsonObject) => ({ ...spec, pins: [] }), /not what its digest says/],
] as const

type Alteration = (spec: JsonObject) => JsonObject

async function programOf({ client, namespace }: Workspace): Promise<AutomationProgram> {
  const { items } = await client.list(automationProgram, { namespace })
  if (items[0] === undefined || items.length > 1) throw new Error(`there are ${items.length} programs`)
  return items[0]
}

/** Puts another program into the place of the stored one, while no manager sees it: the spec itself is frozen. */
async function replaceProgram(workspace: Workspace, operator: Operator, alter: Alteration): Promise<void> {
  await operator.stop()
  const { client, namespace } = workspace
  const { apiVersion, kind, metadata, spec } = await programOf(workspace)
  const { name, labels, ownerReferences } = metadata
  await client.delete({ apiVersion, kind, name, namespace })
  const kept = { name, namespace, ...(labels && { labels }), ...(ownerReferences && { ownerReferences }) }
  await client.create({ apiVersion, kind, metadata: kept, spec: alter(spec as unknown as JsonObject) } as never)
}

describe.each(unreadable)('a program that cannot be run: %s', (reason, alter, message) => {
  it('holds its Automation back, and fails what is fired all the same before anything of it runs', async () => {
    const workspace = await Workspace.create()
    const operator = await startOperator(workspace.client, workspace.namespace)
    await workspace.applyGraph(chainGraph)
    await replaceProgram(workspace, operator, alter)
    await startOperator(workspace.client, workspace.namespace)
    await workspace.fire()
    const firing = await workspace.settled()
    expect(firing.status).toMatchObject({ phase: 'Failed', message: expect.stringMatching(message) })
    await eventually(async () => {
      const { status } = await workspace.automation()
      expect(status).toMatchObject({
        state: 'NotReady',
        readiness: [{ check: 'target', state: 'Failed', message: expect.stringMatching(message) }],
      })
    })
    expect(await workspace.sessions()).toEqual([])
  })

  it('leaves what runs alone, says why it does not go on, and lets it be cancelled', async () => {
    const { workspace, operator, release } = await startHeldChain()
    await replaceProgram(workspace, operator, alter)
    await startOperator(workspace.client, workspace.namespace)
    await eventually(async () => {
      const { status } = await workspace.firing()
      expect(status?.conditions).toContainEqual(
        expect.objectContaining({ type: 'Reconciling', reason, message: expect.stringMatching(message) }),
      )
    })
    expect((await workspace.runIn('Running', 'triage')).metadata.deletionTimestamp).toBeUndefined()
    await workspace.cancel('no manager can run it')
    release()
    expect((await workspace.settled()).status?.phase).toBe('Cancelled')
    expect((await workspace.sessions()).map(({ spec }) => spec.step)).toEqual(['triage'])
  })
})

describe('the API server', () => {
  it('refuses a format that is no positive whole number, and any change of a stored program', async () => {
    const workspace = await Workspace.create()
    await startOperator(workspace.client, workspace.namespace)
    await workspace.applyGraph(chainGraph)
    const { client, namespace } = workspace
    const { apiVersion, kind, metadata, spec } = await programOf(workspace)
    for (const format of ['2', 0, -1, 1.5, null]) {
      const other = {
        apiVersion,
        kind,
        metadata: { name: 'other', namespace },
        spec: { ...spec, formatVersion: format },
      }
      await expect(client.create(other as never), `${format}`).rejects.toThrow(/formatVersion/)
    }
    const ref = { apiVersion, kind, name: metadata.name, namespace }
    await expect(client.mergePatch(ref, { spec: { formatVersion: 2 } })).rejects.toThrow(/spec/)
  })
})
