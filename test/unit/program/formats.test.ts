import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { automationProgram, programDigest } from '../../../src/api/automation-program.ts'
import { crdOf } from '../../../src/api/crd.ts'
import { formatVersion, type Program } from '../../../src/api/program.ts'
import { programFormats, readIn, readProgram } from '../../../src/program/formats.ts'
import { aProgram } from '../../kit/builders.ts'

/** A stored program of another format: of what it holds nothing is known. */
function stored(format: number, program: unknown) {
  return aProgram({ spec: { formatVersion: format, program: program as Program } }).spec
}

/** What another format may hold where this one has entries and steps. */
const foreign: unknown[] = [{}, null, 'text', [], { steps: {} }, { entries: null, steps: null }]

describe('the formats of programs', () => {
  it('reads the current one as it is stored', () => {
    const { spec } = aProgram()
    expect(spec.formatVersion).toBe(formatVersion)
    expect(readProgram(spec)).toEqual({ kind: 'readable', program: spec.program })
  })

  it.each(foreign)('does not look into a newer one: %j', (program) => {
    const read = readProgram(stored(formatVersion + 1, program))
    expect(read).toMatchObject({ kind: 'unreadable', reason: 'ProgramTooNew' })
    expect(read).toHaveProperty('message', expect.stringContaining(`format ${formatVersion + 1}`))
  })

  it.each(foreign)('does not look into one that is too old: %j', (program) => {
    const third = { current: 3, fromPrevious: () => aProgram().spec.program }
    expect(readIn(third, stored(1, program))).toMatchObject({ kind: 'unreadable', reason: 'ProgramTooOld' })
  })

  it('has no format before the first', () => {
    expect(readIn({ current: 1 }, stored(0, {}))).toMatchObject({ reason: 'ProgramTooOld' })
    expect(programFormats.fromPrevious === undefined).toBe(formatVersion === 1)
  })

  it('does not run a program from which something was taken', () => {
    const { spec } = aProgram()
    const [step] = spec.program.steps
    const pruned = { ...spec, program: { ...spec.program, steps: [{ ...step, prompt: undefined } as never] } }
    expect(readProgram(pruned)).toMatchObject({ kind: 'unreadable', reason: 'ProgramDamaged' })
    expect(readProgram({ ...spec, pins: [] })).toMatchObject({ kind: 'unreadable', reason: 'ProgramDamaged' })
  })

  it('the API server adds nothing to a stored program, which would change its digest', () => {
    const schema = crdOf(automationProgram).spec.versions[0]?.schema.openAPIV3Schema
    expect(JSON.stringify(schema?.properties?.spec)).not.toContain('"default":')
  })
})

/** A format as another release might have had it: steps by id, with their order beside them. */
interface Otherwise {
  readonly triggers: Program['entries']
  readonly nodes: Record<string, Omit<Program['steps'][number], 'id'>>
  readonly order: string[]
}

function otherwise({ entries, steps }: Program): Otherwise {
  return {
    triggers: entries,
    nodes: Object.fromEntries(steps.map(({ id, ...step }) => [id, step])),
    order: steps.map(({ id }) => id),
  }
}

function back(program: unknown): Program {
  const { triggers, nodes, order } = program as Otherwise
  return { entries: triggers, steps: order.flatMap((id) => (nodes[id] ? [{ id, ...nodes[id] }] : [])) }
}

const ids = fc.uniqueArray(fc.stringMatching(/^[a-z][a-z0-9]{0,8}$/), { minLength: 1, maxLength: 8 })
const programs = ids.chain((names) =>
  fc
    .array(fc.constantFrom<'agent' | 'decision'>('agent', 'decision'), {
      minLength: names.length,
      maxLength: names.length,
    })
    .map(
      (kinds): Program => ({
        entries: [{ id: 'start', kind: 'manual' }],
        steps: names.map((id, index) => ({
          id: `s-${id}`,
          kind: kinds[index] ?? 'agent',
          after: [{ id: index === 0 ? 'start' : `s-${names[index - 1]}` }],
        })),
      }),
    ),
)

describe('a program of the format before', () => {
  const next = { current: formatVersion + 1, fromPrevious: back }

  it('means the same in the next one', () => {
    fc.assert(
      fc.property(programs, (program) => {
        expect(readIn(next, stored(formatVersion, otherwise(program)))).toEqual({ kind: 'readable', program })
      }),
    )
  })

  it('is held to its digest as it was stored', () => {
    fc.assert(
      fc.property(programs, (program) => {
        const old = stored(formatVersion, otherwise(program))
        expect(old.digest).toBe(programDigest(old))
        const pruned = { ...old, program: { ...(old.program as unknown as Otherwise), order: [] } as never }
        expect(readIn(next, pruned)).toMatchObject({ reason: 'ProgramDamaged' })
      }),
    )
  })
})
