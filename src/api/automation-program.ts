import { z } from 'zod'
import { type Digest, digestJson } from '../lib/digest.ts'
import type { DeepReadonly } from '../lib/readonly.ts'
import { conditions, digestField, objectName, observedGeneration } from './fields.ts'
import { ageColumn, defineKind, frozenSpec } from './kind.ts'
import { pin, program } from './program.ts'

export const automationProgramSpec = z.strictObject({
  formatVersion: z.int().min(1).describe('Format of the program; a manager refuses to run one it does not know.'),
  graph: objectName('Graph it was compiled from.'),
  digest: digestField('Digest of formatVersion, program and pins.'),
  program: program.describe('Entries and steps of the graph, in the order in which they can run.'),
  pins: z.array(pin).max(100).describe('Agent versions the program is bound to.'),
})
export type AutomationProgramSpec = z.infer<typeof automationProgramSpec>

/** The digest of a program: what it was made with, and how it is told whether something is missing from it. */
export function programDigest({
  formatVersion,
  program,
  pins,
}: DeepReadonly<Pick<AutomationProgramSpec, 'formatVersion' | 'program' | 'pins'>>): Digest {
  return digestJson({ formatVersion, program, pins })
}

export const automationProgram = defineKind({
  kind: 'AutomationProgram',
  plural: 'automationprograms',
  shortNames: ['aprog'],
  description:
    'A compiled graph, made by the operator and never changed. Firings name it by digest, so that editing a graph never changes admitted work.',
  spec: automationProgramSpec,
  status: z.strictObject({ observedGeneration, conditions }),
  columns: [
    { name: 'Graph', type: 'string', jsonPath: '.spec.graph' },
    { name: 'Digest', type: 'string', jsonPath: '.spec.digest' },
    ageColumn,
  ],
  rules: [frozenSpec],
})
export type AutomationProgram = NonNullable<(typeof automationProgram)['example']>
