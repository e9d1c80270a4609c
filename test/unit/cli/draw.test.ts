import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Program, ProgramStep } from '../../../src/api/program.ts'
import { canShowUnicode, drawProgram } from '../../../src/cli/draw.ts'
import { describePredicates } from '../../../src/cli/predicate-text.ts'
import { agentStep, changed, compiled, documentOf, edge, manual, triageAndEscalate } from '../../kit/graph-documents.ts'

function draw(document: Parameters<typeof compiled>[0], unicode = true): string {
  const { target, triggers } = compiled(document)
  if (target.kind !== 'program') throw new Error('no program')
  return `\n${drawProgram(target.program, triggers, unicode)}\n`
}

describe('drawProgram', () => {
  it('draws a chain at one depth and a decision by its arms', () => {
    expect(draw(triageAndEscalate())).toMatchInlineSnapshot(`
      "
      by-hand  manual ▶ triage
      weekday  0 9 * * 1-5 (Europe/Berlin) ▶ triage

      triage  agent triage
      │
      parse  parses the JSON of triage
      │
      decide  decides: /escalate equals true
      ├─ continue ▶ escalate  agent escalate, reads the output of triage
      └─ otherwise ▶ finish
      "
    `)
  })

  it('draws a join once, under the last step it waits for', () => {
    const document = documentOf(
      [manual(), agentStep('start'), agentStep('left'), agentStep('right'), agentStep('join'), agentStep('after')],
      [
        edge('starts', 'by-hand', 'start'),
        edge('then', 'start', 'left'),
        edge('then', 'start', 'right'),
        edge('then', 'left', 'join'),
        edge('then', 'right', 'join'),
        edge('then', 'join', 'after'),
      ],
    )
    expect(draw(document, false)).toMatchInlineSnapshot(`
      "
      by-hand  manual -> start

      start  agent start
      |- left  agent left
      |    \`- -> join
      \`- right  agent right
           |
           join  agent join  (waits for left, right)
           |
           after  agent after
      "
    `)
  })

  it('draws arms that lead to several steps, to one step, and steps that start on their own', () => {
    const document = changed(triageAndEscalate(), ({ nodes, edges }) => {
      nodes.push(agentStep('notify'), agentStep('audit'))
      edges.splice(5, 1, edge('otherwise', 'decide', 'notify'))
      edges.push(edge('continue', 'decide', 'notify'), edge('starts', 'by-hand', 'audit'))
    })
    expect(draw(document)).toMatchInlineSnapshot(`
      "
      by-hand  manual ▶ audit, triage
      weekday  0 9 * * 1-5 (Europe/Berlin) ▶ triage

      audit  agent audit

      triage  agent triage
      │
      parse  parses the JSON of triage
      │
      decide  decides: /escalate equals true
      ├─ continue ▶ escalate  agent escalate, reads the output of triage
      ├─ continue ▶ notify  agent notify
      └─ otherwise ▶ notify
      "
    `)
  })

  it('shows every step exactly once, whatever the program', () => {
    const anyProgram = fc
      .array(fc.array(fc.nat({ max: 20 }), { maxLength: 3 }), { minLength: 1, maxLength: 12 })
      .map((steps): Program => {
        const listed = steps.map((from, index): ProgramStep => {
          const before = index === 0 ? [] : [...new Set(from.map((other) => other % index))]
          return {
            id: `s${index}`,
            kind: 'agent',
            agent: 'a',
            after: before.length === 0 ? [{ id: 'hand' }] : before.map((other) => ({ id: `s${other}` })),
          }
        })
        return { entries: [{ id: 'hand', kind: 'manual' }], steps: listed }
      })
    fc.assert(
      fc.property(anyProgram, (program) => {
        const text = drawProgram(program, [{ id: 'hand', kind: 'manual' }], true)
        const drawn = [...text.matchAll(/(s\d+) {2}agent/g)].map(([, id]) => id)
        expect(drawn.toSorted()).toEqual(program.steps.map(({ id }) => id).toSorted())
        for (const step of program.steps) {
          for (const { id } of step.after.filter(({ id: before }) => before !== 'hand')) {
            expect(drawn.indexOf(id)).toBeLessThan(drawn.indexOf(step.id))
          }
        }
      }),
    )
  })
})

describe('canShowUnicode', () => {
  it.each([
    [{}, true],
    [{ LANG: 'de_DE.UTF-8' }, true],
    [{ LANG: 'C' }, false],
    [{ LC_ALL: 'POSIX', LANG: 'en_US.UTF-8' }, false],
    [{ LC_ALL: 'C.utf8', LANG: 'C' }, true],
  ])('%j: %s', (env, shown) => {
    expect(canShowUnicode(env)).toBe(shown)
  })
})

describe('describePredicates', () => {
  it('says groups in words', () => {
    expect(
      describePredicates([
        { kind: 'equals', pointer: '/a', value: 'x' },
        {
          kind: 'any',
          predicates: [
            { kind: 'contains', pointer: '', value: 'y' },
            { kind: 'not', predicate: { kind: 'equals', pointer: '/b', value: false } },
          ],
        },
      ]),
    ).toBe('/a equals "x" and (the value contains "y" or not /b equals false)')
  })
})
