import { describe, expect, it } from 'vitest'
import { program } from '../../../src/api/program.ts'
import { compile } from '../../../src/graph/compile.ts'
import { deepFreeze } from '../../../src/lib/readonly.ts'
import {
  agentStep,
  changed,
  compiled,
  documentOf,
  edge,
  manual,
  nodeOf,
  now,
  oneAgent,
  triageAndEscalate,
} from '../../kit/graph-documents.ts'

describe('compile', () => {
  it('[A-340] lowers triage-and-escalate into a program', () => {
    const result = compiled(triageAndEscalate())
    expect(result.target).toEqual({
      kind: 'program',
      program: {
        entries: [
          { id: 'by-hand', kind: 'manual' },
          { id: 'weekday', kind: 'schedule' },
        ],
        steps: [
          {
            id: 'triage',
            kind: 'agent',
            after: [{ id: 'by-hand' }, { id: 'weekday' }],
            agent: 'triage',
            prompt: 'Triage: {{event.items}}',
            includeEvent: true,
          },
          {
            id: 'parse',
            kind: 'parse_json',
            after: [{ id: 'triage' }],
            bindings: { content: { source: 'triage', pointer: '' } },
            schema: { type: 'object', properties: { escalate: { type: 'boolean' } }, required: ['escalate'] },
          },
          {
            id: 'decide',
            kind: 'decision',
            after: [{ id: 'parse' }],
            bindings: { escalate: { source: 'parse', pointer: '/escalate' } },
            predicates: [{ kind: 'equals', pointer: '/escalate', value: true }],
          },
          {
            id: 'escalate',
            kind: 'agent',
            after: [{ id: 'decide', arm: 'continue' }],
            output: 'triage',
            agent: 'escalate',
            timeoutSeconds: 600,
          },
        ],
      },
    })
    expect(result.triggers).toEqual([
      { id: 'by-hand', kind: 'manual' },
      { id: 'weekday', kind: 'schedule', cron: '0 9 * * 1-5', timezone: 'Europe/Berlin' },
    ])
    expect(result.agents).toEqual(['escalate', 'triage'])
    expect(result.warnings).toEqual([])
  })

  it('what it lowers is a program of the API', () => {
    const { target } = compiled(triageAndEscalate())
    expect(target.kind === 'program' && program.parse(target.program)).toEqual(
      target.kind === 'program' && target.program,
    )
  })

  it('[A-336] lowers one agent behind a trigger into an agent target', () => {
    const result = compiled(oneAgent())
    expect(result.target).toEqual({ kind: 'agent', agent: { name: 'reporter', prompt: 'Report {{event.day}}.' } })
    expect(result.agents).toEqual(['reporter'])
  })

  it('[A-116] does not touch what it is given', () => {
    expect(compile(deepFreeze(triageAndEscalate()), { now }).kind).toBe('compiled')
  })

  it('[A-216] the order of nodes and edges changes neither the document nor the program', () => {
    const reversed = changed(triageAndEscalate(), (document) => {
      document.nodes.reverse()
      document.edges.reverse()
    })
    expect(compiled(reversed)).toEqual(compiled(triageAndEscalate()))
  })

  it('null and absent are the same document', () => {
    const withNull = changed(triageAndEscalate(), (document) => {
      for (const one of document.edges) Object.assign(one, { to: one.to ?? null })
      Object.assign(nodeOf(document, 'triage'), { name: null, timeoutSeconds: null })
    })
    expect(compiled(withNull).documentDigest).toBe(compiled(triageAndEscalate()).documentDigest)
  })

  it('a default written out is the same document', () => {
    const written = changed(triageAndEscalate(), (document) => {
      const content = nodeOf(document, 'parse').inputBindings?.content
      Reflect.deleteProperty(content ?? {}, 'pointer')
    })
    expect(compiled(written).documentDigest).toBe(compiled(triageAndEscalate()).documentDigest)
  })

  it('[A-202] [A-236] an instant is the same under every offset', () => {
    const at = (text: string) =>
      changed(oneAgent(), (document) => {
        document.nodes[0] = { id: 'by-hand', kind: 'trigger', trigger: { kind: 'schedule_once', at: text } }
      })
    const result = compiled(at('2026-12-01T12:00:00-05:00'))
    expect(result.triggers).toEqual([{ id: 'by-hand', kind: 'schedule_once', at: '2026-12-01T17:00:00.000Z' }])
    expect(compiled(at('2026-12-01T17:00Z')).documentDigest).toBe(result.documentDigest)
  })

  it('[A-131] a date that is applied already may have passed, another may not', () => {
    const document = changed(oneAgent(), ({ nodes }) => {
      nodes[0] = { id: 'by-hand', kind: 'trigger', trigger: { kind: 'schedule_once', at: '2026-11-01T09:00:00+01:00' } }
    })
    const applied = (at: string) =>
      compile(document, { now, appliedTriggers: [{ id: 'x', kind: 'schedule_once', at }] })
    expect(applied('2026-11-01T08:00:00.000Z').kind).toBe('compiled')
    expect(applied('2026-11-01T09:00:00.000Z')).toMatchObject({ errors: [{ code: 'schedule_once_not_future' }] })
  })

  it('[A-080] a step that gets an output as its message may omit the prompt', () => {
    const document = documentOf(
      [manual(), agentStep('first'), { id: 'second', kind: 'step_agent', agent: 'second' }],
      [edge('starts', 'by-hand', 'first'), edge('then', 'first', 'second'), edge('output', 'first', 'second')],
    )
    expect(compiled(document).target).toMatchObject({ program: { steps: [{}, { id: 'second', output: 'first' }] } })
  })

  it('[A-104] [A-107] both arms may finish, and an arm may lead to several steps', () => {
    const document = changed(triageAndEscalate(), ({ nodes, edges }) => {
      nodes.push(agentStep('notify'))
      edges.push(edge('continue', 'decide', 'notify'))
    })
    const { target } = compiled(document)
    expect(target).toMatchObject({
      program: {
        steps: expect.arrayContaining([
          expect.objectContaining({ id: 'notify', after: [{ id: 'decide', arm: 'continue' }] }),
        ]),
      },
    })
  })

  it('a step after both arms of a decision names both', () => {
    const document = changed(triageAndEscalate(), ({ edges }) => {
      edges.splice(5, 1, edge('otherwise', 'decide', 'escalate'))
    })
    expect(compiled(document).target).toMatchObject({
      program: {
        steps: [
          {},
          {},
          {},
          {
            after: [
              { id: 'decide', arm: 'continue' },
              { id: 'decide', arm: 'otherwise' },
            ],
          },
        ],
      },
    })
  })

  it.each([
    ['{{ticket}}', 'template_unknown'],
    ['{{event.items[}}', 'template_unknown'],
    ['{{event', 'template_unknown'],
  ])('warns of %s in a prompt', (prompt, code) => {
    const document = changed(oneAgent(), (copy) => {
      nodeOf(copy, 'report').prompt = `Look at ${prompt}`
    })
    expect(compiled(document).warnings).toMatchObject([{ code, node: 'report' }])
  })

  it('warns of what has no effect and of what a schema does not declare', () => {
    const document = changed(triageAndEscalate(), (copy) => {
      nodeOf(copy, 'escalate').includeEvent = true
      const input = nodeOf(copy, 'decide').inputBindings?.escalate
      Object.assign(input ?? {}, { pointer: '/escalated' })
      copy.edges.push(edge('output', 'parse', 'decide'))
    })
    expect(
      compiled(document)
        .warnings.map(({ code }) => code)
        .sort(),
    ).toEqual(['include_event_unused', 'output_unused', 'pointer_undeclared'])
  })
})

describe('policies of a graph', () => {
  it('are a part of the document with their defaults, and absent where the graph says none', () => {
    const none = compiled(triageAndEscalate())
    expect(Object.keys(none.document).sort()).toEqual(['edges', 'environment', 'nodes', 'serviceAccountName'])
    const said = { ...triageAndEscalate(), concurrencyPolicy: 'Forbid', missedOccurrences: {} } as never
    const result = compiled(said)
    expect(result.document).toMatchObject({ concurrencyPolicy: 'Forbid', missedOccurrences: { policy: 'Latest' } })
    expect(result.documentDigest).not.toBe(none.documentDigest)
    expect(result.target).toEqual(none.target)
  })

  it('that make no difference without a schedule are accepted, so that one template fits all', () => {
    expect(compile({ ...oneAgent(), jitterSeconds: 30, missedOccurrences: { policy: 'All' } }, { now }).kind).toBe(
      'compiled',
    )
  })

  it.each([
    [{ concurrencyPolicy: 'Forbids' }, 'concurrencyPolicy is Forbids: did you mean Forbid?'],
    [{ jitterSeconds: 4000 }, 'jitterSeconds is too large: at most 3600'],
    [{ history: { ttlSeconds: 5 } }, 'history.ttlSeconds is too small: at least 600'],
    [{ concurencyPolicy: 'Forbid' }, 'has no field concurencyPolicy: did you mean concurrencyPolicy?'],
  ])('%j is refused by name', (fields, detail) => {
    const result = compile({ ...triageAndEscalate(), ...fields } as never, { now })
    expect(result.kind === 'rejected' && result.errors.map((error) => error.detail)).toEqual([
      expect.stringContaining(detail),
    ])
  })
})
