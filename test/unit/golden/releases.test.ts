import { afterAll, describe, expect, it } from 'vitest'
import { formatVersion } from '../../../src/api/program.ts'
import { runnableEdgeKinds, runnableKinds } from '../../../src/graph/draft.ts'
import { version } from '../../../src/lib/version.ts'
import { advance } from '../../../src/program/advance.ts'
import { readProgram } from '../../../src/program/formats.ts'
import { WorkerSchemaValidator } from '../../../src/runtime/schema-validator.ts'
import { triggerFields } from '../../../src/schedule/trigger-rules.ts'
import {
  type Golden,
  inputOf,
  programOf,
  recordedReleases,
  recordOf,
  recordsOf,
  tales,
  told,
} from '../../kit/golden.ts'

const schemas = new WorkerSchemaValidator()
afterAll(() => schemas.close())

const releases = recordedReleases()

/** The program as today's code reads it, whatever format it was stored in. */
function read(golden: Golden) {
  if (golden.program === undefined) return programOf(golden)
  const known = readProgram(golden.program)
  if (known.kind === 'unreadable') throw new Error(`${golden.graph}: ${known.message}`)
  return known.program
}

describe.each(releases)('release %s', (release) => {
  const goldens = recordsOf(release)
  const isOld = goldens.some(({ program }) => (program?.formatVersion ?? formatVersion) < formatVersion - 1)

  it.each(goldens.map((golden) => [golden.graph, golden] as const))('stored %s, which is read', (_, golden) => {
    if (golden.program === undefined) return
    const known = readProgram(golden.program)
    // Two formats ago is too old, and says so.
    expect(known).toMatchObject(isOld ? { reason: 'ProgramTooOld' } : { kind: 'readable' })
    if (known.kind === 'unreadable') return
    // Outcomes and Sessions of firings under way are found by the ids of the document.
    const nodes = golden.document.nodes.filter(({ kind }) => kind !== 'trigger').map(({ id }) => id)
    expect(new Set(known.program.steps.map(({ id }) => id))).toEqual(new Set(nodes))
  })

  describe.skipIf(isOld)('left firings under way', () => {
    const firings = goldens.flatMap((golden) => golden.firings.map((firing) => ({ golden, firing })))

    it.each(firings.map(({ golden, firing }) => [`${golden.graph}: ${firing.title}`, golden, firing] as const))(
      '%s, which goes on as it would have',
      (_, golden, firing) => {
        for (const [index, { seen, answer }] of firing.passes.entries()) {
          expect(told(advance(inputOf(read(golden), firing, seen))), `pass ${index}`).toEqual(answer)
        }
      },
    )

    it('whose answers are checked against their schemas as they were', async () => {
      let checked = 0
      for (const { firing } of firings) {
        for (const [index, { answer }] of firing.passes.entries()) {
          for (const { step, text, schema } of (answer as ReturnType<typeof advance>).parse) {
            const { message: _, ...verdict } = { message: '', ...(await schemas.validate(text, schema)) }
            expect(firing.passes[index + 1]?.seen.parsed[step]).toMatchObject(verdict)
            checked += 1
          }
        }
      }
      expect(checked).toBeGreaterThan(5)
    })
  })
})

describe('the release that is being made', () => {
  it('has its records', () => {
    expect(releases, `run make golden, which writes those of ${version}`).toContain(version)
    expect(recordsOf(version).map(({ graph }) => graph)).toEqual(tales().map(({ graph }) => graph))
  })

  it.each(tales().map((tale) => [tale.graph, tale] as const))(
    'compiles and runs %s as it is on record',
    async (graph, tale) => {
      const today = await recordOf(tale, schemas)
      const onRecord = recordsOf(version).find((golden) => golden.graph === graph)
      const advice = [
        `Programs, plans or decisions are not what test/golden/${version} has on record. If that was not meant, mend it.`,
        'If it was: another program in the same format makes a new plan of every graph, and one that older operators',
        'would run wrongly needs a new formatVersion (src/api/program.ts) with an upgrader (src/program/formats.ts).',
        'Then run make golden, commit the difference, and say in CHANGELOG.md what users notice.',
      ].join('\n')
      expect(JSON.parse(JSON.stringify(today)), advice).toEqual(onRecord)
    },
  )

  it('has every kind of node, edge and trigger that it runs on record', () => {
    const documents = tales().map(({ document }) => document)
    const nodes = documents.flatMap((document) => document.nodes)
    const edges = documents.flatMap((document) => document.edges)
    expect(new Set(nodes.map(({ kind }) => kind))).toEqual(runnableKinds)
    expect(new Set(edges.map(({ kind }) => kind))).toEqual(new Set(runnableEdgeKinds))
    expect(new Set(nodes.flatMap(({ trigger }) => trigger?.kind ?? []))).toEqual(new Set(Object.keys(triggerFields)))
  })

  it('has every way in which a step ends on record', () => {
    const outcomes = recordsOf(version)
      .flatMap(({ firings }) => firings.flatMap(({ passes }) => passes))
      .flatMap(({ answer }) => Object.values((answer as ReturnType<typeof advance>).outcomes))
    expect(new Set(outcomes.map(({ kind }) => kind))).toEqual(new Set(['running', 'completed', 'failed', 'skipped']))
    expect(new Set(outcomes.flatMap(({ arm }) => arm ?? []))).toEqual(new Set(['continue', 'otherwise']))
  })
})
