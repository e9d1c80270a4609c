import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { automationSpec } from '../../../src/api/automation.ts'
import { graphError } from '../../../src/api/automation-graph.ts'
import {
  edgeKinds,
  type GraphDocument,
  type GraphEdge,
  graphDocument,
  nodeKinds,
} from '../../../src/api/graph-document.ts'
import { program as programSchema } from '../../../src/api/program.ts'
import { compile } from '../../../src/graph/compile.ts'
import { digestJson } from '../../../src/lib/digest.ts'
import { agentStep, decision, documentOf, edge, manual, now, parseStep, schedule } from '../../kit/graph-documents.ts'

const id = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'ghost')

/** A document whose parts are well formed and whose whole is anything. */
const anyDocument = fc.record({
  environment: fc.constant('default'),
  serviceAccountName: fc.constant('acting'),
  nodes: fc.array(
    fc.record(
      {
        id: fc.constantFrom('a', 'b', 'c', 'd', 'e'),
        kind: fc.constantFrom(...nodeKinds),
        agent: fc.constantFrom('x', 'y'),
        prompt: fc.string(),
        includeEvent: fc.boolean(),
        trigger: fc.record(
          {
            kind: fc.constantFrom('schedule', 'schedule_once', 'manual', 'webhook'),
            cron: fc.constantFrom('0 9 * * *', 'nonsense'),
            timezone: fc.constantFrom('UTC', 'Nowhere'),
            at: fc.constantFrom('2027-01-01T00:00:00Z', 'soon'),
          },
          { requiredKeys: ['kind'] },
        ),
        inputBindings: fc.dictionary(
          fc.constantFrom('content', 'v', '0'),
          fc.record({ sourceNodeId: id, pointer: fc.string() }),
        ),
        outputSchema: fc.dictionary(fc.constantFrom('type', 'properties', '$ref', 'allOf', 'pattern'), fc.jsonValue()),
        condition: fc.record({
          kind: fc.constant('predicates'),
          predicates: fc.array(fc.jsonValue(), { maxLength: 2 }),
        }),
      },
      { requiredKeys: ['id', 'kind'] },
    ),
    { maxLength: 6 },
  ),
  edges: fc.array(
    fc.record({ kind: fc.constantFrom(...edgeKinds), from: id, to: id }, { requiredKeys: ['kind', 'from'] }),
    { maxLength: 10 },
  ),
})

interface Plan {
  readonly steps: readonly { readonly isDecision: boolean; readonly from: readonly number[] }[]
  readonly scheduled: boolean
}

/** A valid graph: each step comes after the trigger or earlier steps, each decision after a parser of its own. */
const anyPlan: fc.Arbitrary<Plan> = fc.record({
  scheduled: fc.boolean(),
  steps: fc.array(fc.record({ isDecision: fc.boolean(), from: fc.array(fc.nat({ max: 30 }), { maxLength: 3 }) }), {
    minLength: 1,
    maxLength: 12,
  }),
})

function valid({ steps, scheduled }: Plan): GraphDocument {
  const document = documentOf(scheduled ? [manual('hand'), schedule('clock')] : [manual('hand')])
  const starts = document.nodes.map((node) => node.id)
  const ends: { readonly id: string; readonly arm?: 'continue' | 'otherwise' }[] = []
  function lead(from: readonly number[], to: string): void {
    const chosen = new Set(ends.length === 0 ? [] : from.map((index) => ends[index % ends.length]))
    for (const end of chosen) if (end) document.edges.push(edge(end.arm ?? 'then', end.id, to))
    if (chosen.size === 0) for (const start of starts) document.edges.push(edge('starts', start, to))
  }
  for (const [index, { isDecision, from }] of steps.entries()) {
    const agent = agentStep(`s${index}`)
    document.nodes.push(agent)
    lead(from, agent.id)
    ends.push({ id: agent.id })
    if (!isDecision) continue
    const [parser, gate, yes] = [
      parseStep(`p${index}`, agent.id),
      decision(`d${index}`, `p${index}`),
      agentStep(`y${index}`),
    ]
    document.nodes.push(parser, gate, yes)
    document.edges.push(edge('then', agent.id, parser.id), edge('then', parser.id, gate.id))
    document.edges.push(edge('continue', gate.id, yes.id), edge('otherwise', gate.id))
    document.edges.push(edge('output', agent.id, yes.id))
    ends.push({ id: yes.id })
  }
  return document
}

describe('compile, whatever it is given', () => {
  it('never throws, and rejects with a reason', () => {
    fc.assert(
      fc.property(
        fc.anything({ withBigInt: true, withDate: true, withMap: true, withNullPrototype: true }),
        (document) => {
          const result = compile(document as GraphDocument, { now })
          expect(result).toMatchObject({
            kind: 'rejected',
            errors: expect.arrayContaining([expect.objectContaining({ code: 'document_invalid' })]),
          })
        },
      ),
      { numRuns: 200 },
    )
  })

  it('gives errors that a status can hold, or a program that the API knows', () => {
    fc.assert(
      fc.property(anyDocument, (document) => {
        const result = compile(document as GraphDocument, { now })
        for (const error of [...result.warnings, ...(result.kind === 'rejected' ? result.errors : [])]) {
          expect(graphError.safeParse(error).error).toBeUndefined()
        }
        if (result.kind === 'rejected') expect(result.errors.length).toBeGreaterThan(0)
        else expect(graphDocument.parse(result.document)).toEqual(result.document)
      }),
      { numRuns: 300 },
    )
  })

  it.each([
    ['a cycle of references', () => cyclic()],
    ['a getter that throws', () => throwing()],
    ['nesting without end', () => nested(100_000)],
    ['an alias bomb', () => bomb(30)],
    ['a member named __proto__', () => JSON.parse('{"nodes":[{"id":"a","kind":"agent","__proto__":{"x":1}}]}')],
  ])('refuses %s', (_title, make) => {
    expect(compile(make() as GraphDocument, { now })).toMatchObject({ errors: [{ code: 'document_invalid' }] })
  })
})

describe('compile, given a valid graph', () => {
  it('compiles it into steps in order', () => {
    fc.assert(
      fc.property(anyPlan, (plan) => {
        const document = valid(plan)
        const result = compile(document, { now })
        expect(result.kind === 'rejected' ? result.errors : []).toEqual([])
        if (result.kind !== 'compiled' || result.target.kind !== 'program') throw new Error('no program')
        const { program } = result.target
        expect(programSchema.parse(program)).toEqual(program)
        const known = new Set(program.entries.map((entry) => entry.id))
        for (const step of program.steps) {
          expect(step.after.length).toBeGreaterThan(0)
          for (const { id: before } of step.after) expect(known).toContain(before)
          known.add(step.id)
        }
        expect(known.size).toBe(document.nodes.length)
        expect(automationSpec.shape.triggers.parse(result.triggers)).toEqual(result.triggers)
      }),
    )
  })

  it('[A-216] gives the same digests in whatever order it is written', () => {
    const shuffled = anyPlan.chain((plan) => {
      const document = valid(plan)
      return fc.record({
        document: fc.constant(document),
        nodes: fc.shuffledSubarray(document.nodes, { minLength: document.nodes.length }),
        edges: fc.shuffledSubarray<GraphEdge>(document.edges, { minLength: document.edges.length }),
      })
    })
    fc.assert(
      fc.property(shuffled, ({ document, nodes, edges }) => {
        const [one, other] = [compile(document, { now }), compile({ ...document, nodes, edges }, { now })]
        expect(digestJson(other)).toBe(digestJson(one))
        expect(one).toEqual(other)
      }),
    )
  })
})

function cyclic(): unknown {
  const document: { nodes: unknown[] } = { nodes: [] }
  document.nodes.push(document)
  return document
}

function throwing(): unknown {
  return {
    get nodes(): never {
      throw new Error('no')
    },
  }
}

function nested(depth: number): unknown {
  let value: unknown = 'x'
  for (let level = 0; level < depth; level += 1) value = [value]
  return { nodes: value }
}

function bomb(levels: number): unknown {
  let value: unknown = 'x'
  for (let level = 0; level < levels; level += 1) value = [value, value]
  return { nodes: value }
}
