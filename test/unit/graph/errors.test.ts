import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { graphError } from '../../../src/api/automation-graph.ts'
import type { GraphDocument, GraphNode, NodeKind, Predicate } from '../../../src/api/graph-document.ts'
import { nodeKinds } from '../../../src/api/graph-document.ts'
import { compile } from '../../../src/graph/compile.ts'
import { runnableKinds } from '../../../src/graph/draft.ts'
import { graphErrorCodes, graphWarningCodes } from '../../../src/graph/findings.ts'
import {
  agentStep,
  changed,
  codesOf,
  decision,
  documentOf,
  edge,
  manual,
  nodeOf,
  now,
  oneAgent,
  parseStep,
  schedule,
  triageAndEscalate,
} from '../../kit/graph-documents.ts'

type Change = (document: GraphDocument) => void
type Row = [title: string, change: Change, expected: string[]]

function set(id: string, fields: object): Change {
  return (document) => Object.assign(nodeOf(document, id), fields)
}

function drop(id: string, field: keyof GraphNode): Change {
  return (document) => Reflect.deleteProperty(nodeOf(document, id), field)
}

function addEdge(...args: Parameters<typeof edge>): Change {
  return (document) => document.edges.push(edge(...args))
}

function dropEdge(kind: string, from: string): Change {
  return (document) => {
    document.edges = document.edges.filter((one) => one.kind !== kind || one.from !== from)
  }
}

function predicate(value: unknown): Change {
  return set('decide', { condition: { kind: 'predicates', predicates: [value] } })
}

function at(text: string): Change {
  return set('weekday', { trigger: { kind: 'schedule_once', at: text } })
}

function both(...changes: Change[]): Change {
  return (document) => {
    for (const change of changes) change(document)
  }
}

const shape: Row[] = [
  ['[A-073] no environment', (d) => Reflect.deleteProperty(d, 'environment'), ['document_invalid']],
  ['no serviceAccountName', (d) => Reflect.deleteProperty(d, 'serviceAccountName'), ['document_invalid']],
  ['an unknown field of the document', (d) => Object.assign(d, { color: 'red' }), ['document_invalid']],
  ['an unknown field of a node', set('triage', { color: 'red' }), ['document_invalid triage']],
  ['a field of the wrong type', set('triage', { timeoutSeconds: '5' }), ['document_invalid triage']],
  ['a field out of range', set('triage', { timeoutSeconds: 0 }), ['document_invalid triage']],
  ['an unknown kind', set('triage', { kind: 'step_magic' }), ['document_invalid triage']],
  ['an unknown kind of edge', addEdge('leads' as 'then', 'triage', 'parse'), ['document_invalid']],
  ['a name that is none', set('triage', { agent: 'Not A Name' }), ['document_invalid triage']],
  ['a prompt that is too long', set('triage', { prompt: 'x'.repeat(65_537) }), ['limit_exceeded triage']],
  ['a prompt of too many bytes', set('triage', { prompt: 'ä'.repeat(40_000) }), ['limit_exceeded triage']],
  ['nodes that are no list', (d) => Object.assign(d, { nodes: 'all' }), ['document_invalid']],
  ['no nodes', (d) => Object.assign(d, { nodes: [] }), ['document_invalid']],
  ['a node that is no object', (d) => d.nodes.push('x' as never), ['document_invalid']],
]

const nodes: Row[] = [
  ['[A-075] two nodes with one id', (d) => d.nodes.push(agentStep('triage')), ['node_id_duplicate triage']],
  [
    'an id that YAML reads as true',
    (d) => {
      d.nodes.push(agentStep('yes'))
      d.edges.push(edge('then', 'triage', 'yes'))
    },
    ['document_invalid yes'],
  ],
  [
    'an id that is no label',
    (d) => {
      d.nodes.push(agentStep('Tri_age', { agent: 'triage' }))
      d.edges.push(edge('then', 'triage', 'Tri_age'))
    },
    ['document_invalid Tri_age'],
  ],
  ['a step without its agent', drop('triage', 'agent'), ['document_invalid triage']],
  ['a step without a prompt', drop('triage', 'prompt'), ['document_invalid triage']],
  ['a trigger without its trigger', drop('by-hand', 'trigger'), ['document_invalid by-hand']],
  ['a parser without a schema', drop('parse', 'outputSchema'), ['document_invalid parse']],
  ['a parser without content', drop('parse', 'inputBindings'), ['document_invalid parse']],
  ['a decision without a condition', drop('decide', 'condition'), ['document_invalid decide']],
  ['a field of another kind', set('decide', { prompt: 'Decide.' }), ['document_invalid decide']],
  ['[A-134] [A-191] a budget', set('triage', { budget: { meter: 'tokens', limit: 5 } }), ['budget_unsupported triage']],
  ['retries', set('triage', { retries: { maxAttempts: 2 } }), ['retry_unsupported triage']],
  ['a session target', set('triage', { sessionTarget: { kind: 'x' } }), ['session_target_unsupported triage']],
  ['[A-314] [A-315] a fan-out', set('triage', { forEach: { items: {} } }), ['document_invalid triage']],
  ['[A-312] a delivery screen', set('triage', { deliveryScreen: {} }), ['document_invalid triage']],
  ['[A-190] a budget where nothing acts', set('decide', { budget: {} }), ['document_invalid decide']],
]

const triggers: Row[] = [
  [
    'no trigger',
    (d) => {
      d.nodes = d.nodes.filter(({ kind }) => kind !== 'trigger')
      d.edges = d.edges.filter(({ kind }) => kind !== 'starts')
    },
    ['trigger_missing'],
  ],
  ['a trigger that starts nothing', dropEdge('starts', 'weekday'), ['document_invalid weekday']],
  [
    '[A-128] [A-230] two schedules',
    both((d) => d.nodes.push(schedule('again')), addEdge('starts', 'again', 'triage')),
    ['trigger_conflict again'],
  ],
  [
    '[A-128] a schedule and a date',
    both(
      (d) =>
        d.nodes.push({ id: 'once', kind: 'trigger', trigger: { kind: 'schedule_once', at: '2027-01-01T00:00:00Z' } }),
      addEdge('starts', 'once', 'triage'),
    ),
    ['trigger_conflict once'],
  ],
  ['[A-194] a bad cron', set('weekday', schedule('weekday', '0 9 * *')), ['trigger_invalid weekday']],
  ['an impossible day', set('weekday', schedule('weekday', '0 9 30 2 *')), ['trigger_invalid weekday']],
  ['an unknown zone', set('weekday', schedule('weekday', '0 9 * * *', 'Mars/Base')), ['trigger_invalid weekday']],
  ['[A-202] a date without an offset', at('2027-01-01T00:00:00'), ['trigger_invalid weekday']],
  ['a date that does not exist', at('2027-02-30T00:00:00Z'), ['trigger_invalid weekday']],
  ['[A-131] [A-206] a date that has passed', at('2026-11-30T12:00:00Z'), ['schedule_once_not_future weekday']],
  [
    '[A-130] a date with a cron',
    set('weekday', { trigger: { kind: 'schedule_once', at: '2027-01-01T00:00:00Z', cron: '0 9 * * *' } }),
    ['document_invalid weekday'],
  ],
  [
    '[A-130] a schedule without a zone',
    set('weekday', { trigger: { kind: 'schedule', cron: '0 9 * * *' } }),
    ['document_invalid weekday'],
  ],
  ['a webhook', set('weekday', { trigger: { kind: 'webhook', secretRef: {} } }), ['document_invalid weekday']],
  ['a subscription', set('weekday', { trigger: { kind: 'subscription', event: 'x' } }), ['document_invalid weekday']],
]

const edges: Row[] = [
  ['[A-112] an edge to nowhere', addEdge('then', 'triage', 'ghost'), ['node_unknown then triage -> ghost']],
  ['an edge that stands there twice', addEdge('then', 'triage', 'parse'), ['edge_duplicate then triage -> parse']],
  ['[A-111] an edge without a target', addEdge('then', 'triage'), ['document_invalid then triage']],
  [
    '[A-115] a trigger after a step',
    addEdge('then', 'triage', 'weekday'),
    ['edge_endpoint_kind then triage -> weekday', 'graph_cycle weekday'],
  ],
  [
    '[A-115] then from a decision',
    addEdge('then', 'decide', 'escalate'),
    ['edge_endpoint_kind then decide -> escalate'],
  ],
  ['[A-115] an arm of a step', addEdge('continue', 'triage', 'parse'), ['edge_endpoint_kind continue triage -> parse']],
  [
    '[A-115] output of a decision',
    addEdge('output', 'decide', 'escalate'),
    ['edge_endpoint_kind output decide -> escalate', 'merge_ambiguous escalate'],
  ],
  ['[A-115] starts from a step', addEdge('starts', 'triage', 'parse'), ['edge_endpoint_kind starts triage -> parse']],
  ['an uncertain arm of a step', addEdge('uncertain', 'triage'), ['edge_endpoint_kind uncertain triage']],
  ['[A-311] a review', addEdge('reviews', 'triage', 'parse'), ['document_invalid reviews triage -> parse']],
  ['a hand-over', addEdge('hands_to', 'triage', 'parse'), ['document_invalid hands_to triage -> parse']],
  ['a delivery', addEdge('delivers', 'triage', 'parse'), ['document_invalid delivers triage -> parse']],
  [
    'an agent among steps',
    both((d) => d.nodes.push({ id: 'chat', kind: 'agent', agent: 'chat' }), addEdge('starts', 'by-hand', 'chat')),
    ['edge_endpoint_kind chat'],
  ],
  ['[A-124] a missing arm', dropEdge('otherwise', 'decide'), ['decision_arm_missing decide']],
  ['[A-124] an arm for uncertainty', addEdge('uncertain', 'decide'), ['decision_arm_unexpected uncertain decide']],
  [
    '[A-124] an arm for errors',
    addEdge('error', 'decide', 'escalate'),
    ['decision_arm_unexpected error decide -> escalate'],
  ],
  ['an arm that both finishes and leads on', addEdge('continue', 'decide'), ['decision_arm_unexpected decide']],
  ['[A-118] two whole outputs', addEdge('output', 'parse', 'escalate'), ['merge_ambiguous escalate']],
]

const flow: Row[] = [
  ['[A-117] [A-147] a cycle', addEdge('then', 'escalate', 'triage'), ['graph_cycle triage']],
  ['a step that leads to itself', addEdge('then', 'triage', 'triage'), ['graph_cycle triage']],
  ['[A-147] a cycle over data', addEdge('output', 'escalate', 'triage'), ['graph_cycle triage']],
  ['an unreachable step', (d) => d.nodes.push(agentStep('lonely')), ['node_unreachable lonely']],
  [
    'an unreachable path, once',
    both(
      (d) => d.nodes.push(agentStep('lonely'), agentStep('after'), agentStep('last')),
      addEdge('then', 'lonely', 'after'),
      addEdge('then', 'after', 'last'),
    ),
    ['node_unreachable lonely'],
  ],
  [
    'a binding to nowhere',
    set('decide', { inputBindings: { escalate: { sourceNodeId: 'ghost', pointer: '' } } }),
    ['binding_unknown decide'],
  ],
  [
    'a binding to a decision',
    set('escalate', { inputBindings: { why: { sourceNodeId: 'decide', pointer: '' } } }),
    ['binding_unknown escalate'],
  ],
  [
    '[A-375] a pointer into a text',
    set('escalate', { inputBindings: { why: { sourceNodeId: 'triage', pointer: '/why' } } }),
    ['binding_unknown escalate'],
  ],
  [
    'a malformed pointer',
    set('escalate', { inputBindings: { why: { sourceNodeId: 'parse', pointer: 'escalate' } } }),
    ['document_invalid escalate'],
  ],
  [
    'an input whose name is none',
    set('escalate', { inputBindings: { '../x': { sourceNodeId: 'parse', pointer: '' } } }),
    ['document_invalid escalate'],
  ],
  [
    'too many inputs',
    set('escalate', {
      inputBindings: Object.fromEntries(
        Array.from({ length: 33 }, (_, index) => [`i${index}`, { sourceNodeId: 'parse', pointer: '' }]),
      ),
    }),
    ['limit_exceeded escalate'],
  ],
  [
    '[A-123] a value that comes later',
    set('triage', { inputBindings: { why: { sourceNodeId: 'parse', pointer: '' } } }),
    ['binding_not_dominated triage'],
  ],
  [
    'its own value',
    set('triage', { inputBindings: { why: { sourceNodeId: 'triage', pointer: '' } } }),
    ['binding_not_dominated triage'],
  ],
  [
    'the event of one of two triggers',
    set('triage', { inputBindings: { items: { sourceNodeId: 'by-hand', pointer: '/items' } } }),
    ['binding_not_dominated triage'],
  ],
  [
    'an output that one path misses',
    both(
      (d) => d.nodes.push(agentStep('other')),
      addEdge('starts', 'by-hand', 'other'),
      addEdge('then', 'other', 'escalate'),
    ),
    ['result_not_dominated output triage -> escalate'],
  ],
]

const decisions: Row[] = [
  ['nothing to decide about', drop('decide', 'inputBindings'), ['document_invalid decide']],
  ['no predicates', set('decide', { condition: { kind: 'predicates', predicates: [] } }), ['document_invalid decide']],
  ['criteria', set('decide', { condition: { kind: 'criteria', criteria: {} } }), ['document_invalid decide']],
  [
    '[A-119] an evaluation that fails open',
    set('decide', { condition: { kind: 'check', check: {}, failure: 'fail_open' } }),
    ['decision_fail_open decide', 'document_invalid decide'],
  ],
  [
    '[A-126] [A-372] null',
    predicate({ kind: 'equals', pointer: '/escalate', value: null }),
    ['document_invalid decide'],
  ],
  ['[A-126] a list', predicate({ kind: 'equals', pointer: '/escalate', value: [1] }), ['document_invalid decide']],
  [
    '[A-126] an integer too large',
    predicate({ kind: 'equals', pointer: '/escalate', value: 2 ** 60 }),
    ['document_invalid decide'],
  ],
  [
    '[A-126] infinity',
    predicate({ kind: 'equals', pointer: '/escalate', value: Number.POSITIVE_INFINITY }),
    ['document_invalid'],
  ],
  [
    '[A-127] contains a number',
    predicate({ kind: 'contains', pointer: '/escalate', value: 1 }),
    ['document_invalid decide'],
  ],
  ['no pointer', predicate({ kind: 'equals', value: 1 }), ['document_invalid decide']],
  ['all inputs at once', predicate({ kind: 'equals', pointer: '', value: 1 }), ['document_invalid decide']],
  [
    'an input that is not bound',
    predicate({ kind: 'equals', pointer: '/other', value: 1 }),
    ['binding_unknown decide'],
  ],
  ['an empty group', predicate({ kind: 'all', predicates: [] }), ['document_invalid decide']],
  [
    'a foreign field',
    predicate({ kind: 'not', pointer: '/escalate' }),
    ['document_invalid decide', 'document_invalid decide'],
  ],
  [
    'a group three levels deep',
    predicate({ kind: 'all', predicates: [{ kind: 'any', predicates: [{ kind: 'all', predicates: [] }] }] }),
    ['document_invalid decide'],
  ],
]

const rows = [...shape, ...nodes, ...triggers, ...edges, ...flow, ...decisions]

describe('[A-113] [A-114] [A-148] errors of the compiler', () => {
  it('every code is reached by a test and told in the docs', () => {
    const reached = new Set(rows.flatMap(([, , codes]) => codes.map((code) => code.split(' ')[0])))
    const elsewhere = ['schema_invalid', 'schema_unsupported']
    expect(graphErrorCodes.filter((code) => !reached.has(code) && !elsewhere.includes(code))).toEqual([])
    const page = readFileSync('docs/graph-errors.md', 'utf8')
    expect([...graphErrorCodes, ...graphWarningCodes].filter((code) => !page.includes(`| \`${code}\` |`))).toEqual([])
  })

  for (const [title, change, expected] of rows) {
    it(title, () => {
      const result = compile(changed(triageAndEscalate(), change), { now })
      expect(codesOf(result)).toEqual(expected)
      if (result.kind === 'compiled') return
      for (const error of result.errors) {
        expect(graphError.safeParse(error).error).toBeUndefined()
        expect(error.detail.length).toBeGreaterThan(15)
      }
    })
  }

  it.each(nodeKinds.filter((kind) => !runnableKinds.has(kind)))(
    '[A-122] refuses the kind %s by name',
    (kind: NodeKind) => {
      const result = compile(
        changed(triageAndEscalate(), ({ nodes: list, edges: links }) => {
          list.push({ id: 'later', kind })
          links.push(edge('then', 'triage', 'later'), edge('then', 'later', 'escalate'))
        }),
        { now },
      )
      expect(codesOf(result)).toContain('document_invalid later')
      expect(codesOf(result).filter((code) => !code.startsWith('result_not_dominated'))).toEqual([
        'document_invalid later',
      ])
      expect(result).toMatchObject({
        errors: expect.arrayContaining([expect.objectContaining({ detail: expect.stringContaining(kind) })]),
      })
    },
  )

  it('[A-148] names several independent problems at once', () => {
    const broken = changed(
      triageAndEscalate(),
      both(
        set('weekday', schedule('weekday', 'never')),
        drop('triage', 'agent'),
        dropEdge('otherwise', 'decide'),
        addEdge('then', 'escalate', 'ghost'),
        (d) => d.nodes.push(agentStep('lonely')),
      ),
    )
    expect(codesOf(compile(broken, { now }))).toEqual([
      'decision_arm_missing decide',
      'document_invalid triage',
      'node_unknown then escalate -> ghost',
      'node_unreachable lonely',
      'trigger_invalid weekday',
    ])
  })

  it('names one path that misses the source', () => {
    const document = documentOf(
      [
        manual(),
        schedule(),
        agentStep('triage'),
        parseStep('parse', 'triage'),
        decision('decide', 'parse'),
        agentStep('end'),
      ],
      [
        edge('starts', 'by-hand', 'triage'),
        edge('starts', 'weekday', 'decide'),
        edge('then', 'triage', 'parse'),
        edge('then', 'parse', 'decide'),
        edge('continue', 'decide', 'end'),
        edge('otherwise', 'decide'),
      ],
    )
    expect(compile(document, { now })).toMatchObject({
      errors: [{ code: 'binding_not_dominated', detail: expect.stringContaining('weekday -> decide') }],
    })
  })

  it('limits the number of nodes and edges and the size of the document', () => {
    const ids = Array.from({ length: 101 }, (_, index) => `step-${index}`)
    const many = documentOf(
      [manual(), ...ids.map((id) => agentStep(id, { prompt: 'x'.repeat(1400) }))],
      ids.flatMap((id, index) => [
        edge('starts', 'by-hand', id),
        ...ids.slice(index + 1, index + 4).map((to) => edge('then', id, to)),
      ]),
    )
    expect(codesOf(compile(many, { now }))).toEqual(['limit_exceeded', 'limit_exceeded', 'limit_exceeded'])
  })

  it('limits what stands beside the document, by name and size', () => {
    const text = (bytes: number) => 'x'.repeat(bytes - 2)
    const besides = (layout: unknown, sampleEvent: unknown) => {
      const result = compile(oneAgent(), { now, beside: { layout, sampleEvent } })
      return result.kind === 'compiled' ? [] : result.errors.map(({ code, detail }) => `${code} ${detail}`)
    }
    expect(besides(text(16_384), text(16_384))).toEqual([])
    expect(besides({ a: 'ä'.repeat(10_000) }, text(16_385))).toEqual([
      'limit_exceeded layout has 20008 bytes as JSON, at most 16384: leave out what is not needed',
      'limit_exceeded sampleEvent has 16385 bytes as JSON, at most 16384: leave out what is not needed',
    ])
  })

  it('survives what is no JSON beside the document', () => {
    const cycle: Record<string, unknown> = {}
    cycle.self = cycle
    expect(compile(oneAgent(), { now, beside: { layout: cycle } })).toMatchObject({
      errors: [{ code: 'document_invalid', detail: expect.stringMatching(/^layout: .*deeper/) }],
    })
  })

  it('a second agent is refused', () => {
    const document = changed(oneAgent(), ({ nodes: list, edges: links }) => {
      list.push({ id: 'again', kind: 'agent', agent: 'again' })
      links.push(edge('starts', 'by-hand', 'again'))
    })
    expect(codesOf(compile(document, { now }))).toEqual(['document_invalid again'])
  })

  it('an agent takes no inputs', () => {
    const document = changed(
      oneAgent(),
      set('report', { inputBindings: { day: { sourceNodeId: 'by-hand', pointer: '/day' } } }),
    )
    expect(codesOf(compile(document, { now }))).toEqual(['document_invalid report'])
  })

  it.each<Predicate>([
    { kind: 'equals', pointer: '/escalate', value: false },
    { kind: 'equals', pointer: '/escalate', value: '' },
    { kind: 'equals', pointer: '/escalate', value: 0.5 },
    { kind: 'contains', pointer: '/escalate', value: ' x ' },
    { kind: 'any', predicates: [{ kind: 'not', predicate: { kind: 'equals', pointer: '/escalate/0', value: 0 } }] },
  ])('[A-126] [A-370] accepts the predicate %j', (accepted) => {
    expect(codesOf(compile(changed(triageAndEscalate(), predicate(accepted)), { now }))).toEqual([])
  })
})

describe('words that are no words of the language', () => {
  function detailOf(change: Change): string | undefined {
    const result = compile(changed(triageAndEscalate(), change), { now })
    return result.kind === 'rejected' ? result.errors[0]?.detail : undefined
  }

  it.each<[string, Change, string]>([
    ['a kind of node', set('triage', { kind: 'step_agnt' }), 'nodes[2].kind is step_agnt: did you mean step_agent?'],
    ['a kind of edge', addEdge('start' as 'starts', 'by-hand', 'triage'), 'kind is start: did you mean starts?'],
    ['a field of a node', set('triage', { promt: 'x' }), 'nodes[2] has no field promt: did you mean prompt?'],
    ['a field of the document', (d) => Object.assign(d, { environmnt: 'x' }), 'environmnt: did you mean environment?'],
    ['a field of nothing like it', set('triage', { colour: 'x' }), 'no field colour: remove it or correct its name'],
  ])('says what was probably meant by %s', (_title, change, expected) => {
    expect(detailOf(change)).toContain(expected)
  })

  it('says that a message will do in place of a prompt', () => {
    expect(detailOf(drop('triage', 'prompt'))).toContain('needs the field prompt, or an edge output that leads to it')
  })

  it('lists the kinds that this release runs, and no others', () => {
    const listed = detailOf(set('triage', { kind: 'magic' }))
    expect(listed).toBe(`nodes[2].kind is magic, must be one of ${[...runnableKinds].join(', ')}`)
    expect(detailOf(addEdge('magic' as 'then', 'triage', 'parse'))).toMatch(
      /is magic, must be one of starts, then, output, continue, otherwise$/,
    )
  })
})
