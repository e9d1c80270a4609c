import { z } from 'zod'
import { anyJson, anyObject, conditions, digestField, objectName, observedGeneration } from './fields.ts'
import { documentFields } from './graph-document.ts'
import { ageColumn, defineKind } from './kind.ts'

export const automationGraphSpec = z.strictObject({
  ...documentFields,
  layout: anyObject('Positions for an editor. Never planned.').optional(),
  sampleEvent: anyJson('An event to preview prompts with. Never planned.').optional(),
  applyPolicy: z
    .enum(['Review', 'Automatic'])
    .default('Review')
    .describe(
      'Review: a plan waits for its approval. Automatic: plans without blockers are applied; for graphs reviewed elsewhere. Default Review.',
    ),
  driftPolicy: z
    .enum(['Report', 'Correct'])
    .default('Report')
    .describe(
      'Report: a changed Automation is shown as drift. Correct: the approved content is put back. Default Report.',
    ),
  planHistoryLimit: z.int().min(1).max(100).default(10).describe('Finished plans that are kept. Default 10.'),
})
export type AutomationGraphSpec = z.infer<typeof automationGraphSpec>

/** One finding of the compiler. */
export const graphError = z.strictObject({
  code: z.string().max(64).describe('Stable code of the error.'),
  detail: z.string().max(1024).describe('What is wrong and what to change.'),
  node: z.string().max(63).optional().describe('Id of the node concerned.'),
  edge: z.string().max(256).optional().describe('The edge concerned, as kind from -> to.'),
})
export type GraphError = z.infer<typeof graphError>

/** Characters of `status.drift`. */
export const driftLimit = 1024

export const automationGraphStatus = z.strictObject({
  observedGeneration,
  revision: z.int().min(1).optional().describe('Generation at which the document last changed.'),
  documentDigest: digestField('Digest of the normalised document of that revision.').optional(),
  planSequence: z.int().min(0).optional().describe('Number of the newest plan; never used again.'),
  plan: objectName('The newest plan of the current document.').optional(),
  changes: z.string().max(256).optional().describe('What the newest plan would change, in words.'),
  applied: z
    .strictObject({
      plan: objectName('The plan that was applied last.'),
      revision: z.int().min(1).describe('Its revision.'),
      digest: digestField('Its digest.'),
      automation: objectName('The Automation it made.'),
    })
    .optional()
    .describe('What is applied: the graph-managed resource and where it came from.'),
  drift: z
    .string()
    .max(driftLimit)
    .optional()
    .describe('none, deleted, or the fields of the Automation that differ from what was applied.'),
  errors: z.array(graphError).max(100).optional().describe('Everything the compiler refuses in the current document.'),
  warnings: z.array(graphError).max(100).optional().describe('What the compiler accepts but advises against.'),
  conditions,
})
export type AutomationGraphStatus = z.infer<typeof automationGraphStatus>

export const automationGraph = defineKind({
  kind: 'AutomationGraph',
  plural: 'automationgraphs',
  shortNames: ['agraph'],
  description:
    'An automation as a graph of triggers and steps. A change becomes a plan; a reviewed plan becomes an Automation.',
  spec: automationGraphSpec,
  status: automationGraphStatus,
  columns: [
    { name: 'Revision', type: 'integer', jsonPath: '.status.revision' },
    { name: 'Plan', type: 'string', jsonPath: '.status.plan' },
    { name: 'Applied', type: 'string', jsonPath: '.status.conditions[?(@.type=="Applied")].reason' },
    { name: 'Drift', type: 'string', jsonPath: '.status.drift' },
    { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
    { name: 'Reason', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].reason' },
    ageColumn,
  ],
})
export type AutomationGraph = NonNullable<(typeof automationGraph)['example']>
