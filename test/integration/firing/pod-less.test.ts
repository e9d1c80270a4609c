import { expect, it } from 'vitest'
import type { AutomationGraphSpec } from '../../../src/api/automation-graph.ts'
import type { Write } from '../../../src/runtime/writer.ts'
import { startOperator } from '../../kit/operator.ts'
import { Workspace } from './workspace.ts'

const count = 20

/** Parses the text in the event, then decides again and again, each time on the way on. */
function chainOfDecisions(): Partial<AutomationGraphSpec> {
  const decisions = Array.from({ length: count - 1 }, (_, index) => `d${index}`)
  return {
    nodes: [
      { id: 'by-hand', kind: 'trigger', trigger: { kind: 'manual' } },
      {
        id: 'parse',
        kind: 'step_parse_json',
        inputBindings: { content: { sourceNodeId: 'by-hand', pointer: '/text' } },
        outputSchema: { type: 'object', properties: { go: { type: 'boolean' } }, required: ['go'] },
      },
      ...decisions.map((id) => ({
        id,
        kind: 'decision' as const,
        inputBindings: { go: { sourceNodeId: 'parse', pointer: '/go' } },
        condition: {
          kind: 'predicates' as const,
          predicates: [{ kind: 'equals' as const, pointer: '/go', value: true }],
        },
      })),
    ],
    edges: [
      { kind: 'starts', from: 'by-hand', to: 'parse' },
      { kind: 'then', from: 'parse', to: 'd0' },
      ...decisions.flatMap((id, index) => {
        const next = decisions[index + 1]
        return [
          next === undefined
            ? { kind: 'continue' as const, from: id }
            : { kind: 'continue' as const, from: id, to: next },
          { kind: 'otherwise' as const, from: id },
        ]
      }),
    ],
  }
}

it('records twenty steps that need no pod in one write, within a second', async () => {
  const workspace = await Workspace.create()
  const writes: Write[] = []
  const faults = (moment: 'before' | 'after', write: Write) => {
    if (moment === 'before' && write.ref.kind === 'AutomationFiring' && write.verb === 'apply status')
      writes.push(write)
  }
  await startOperator(workspace.client, workspace.namespace, { faults })
  await workspace.applyGraph(chainOfDecisions())
  await workspace.fire({ event: { text: '{"go":true}' } })
  const { status } = await workspace.settled()
  expect(status?.phase).toBe('Succeeded')
  const steps = Object.values(status?.steps ?? {})
  expect(steps).toHaveLength(count)
  expect(new Set(steps.map(({ kind, settledAt }) => `${kind} ${settledAt}`)).size).toBe(1)
  // To wait for its start (where that takes a moment), to be admitted, to end.
  expect(writes.length).toBeLessThanOrEqual(3)
  expect(Date.parse(status?.settledAt ?? '') - Date.parse(status?.startedAt ?? '')).toBeLessThan(1000)
})
