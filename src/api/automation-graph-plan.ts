import { z } from 'zod'
import {
  anyObject,
  conditions,
  digestField,
  messageField,
  objectName,
  observedGeneration,
  timeField,
  uidField,
} from './fields.ts'
import { ageColumn, defineKind } from './kind.ts'
import { pin } from './program.ts'
import { programReference } from './references.ts'

const disposition = z.strictObject({
  kind: z.string().max(63).describe('Kind of the resource.'),
  name: objectName('Name of the resource.'),
  action: z
    .enum(['Create', 'Update', 'Unchanged', 'Delete', 'Conflict'])
    .describe('What applying the plan does to it.'),
  fields: z.array(z.string().max(256)).max(100).optional().describe('Update: paths of the fields that change.'),
})
export type Disposition = z.infer<typeof disposition>

const blocker = z.strictObject({
  code: z.string().max(64).describe('Stable code of the blocker.'),
  detail: z.string().max(1024).describe('What stands in the way and what to do about it.'),
})
export type Blocker = z.infer<typeof blocker>

const planContent = z.strictObject({
  graph: objectName('The graph that was planned.'),
  graphUID: uidField('Its UID.'),
  revision: z.int().min(1).describe('Its revision.'),
  document: anyObject('The normalised document of that revision.'),
  automation: anyObject('The spec that the Automation will have, as far as the graph manages it.'),
  program: programReference.optional().describe('The compiled program; absent where the graph is one agent.'),
  dispositions: z.array(disposition).max(100).describe('What applying the plan does, resource by resource.'),
  pins: z.array(pin).max(100).describe('Agent versions the plan is bound to.'),
  blockers: z
    .array(blocker)
    .max(100)
    .describe('What stands in the way of applying. Each must be resolved, which makes another plan.'),
  requiredInputs: z
    .array(
      z.strictObject({
        kind: z.string().max(63).describe('Kind of what people must provide.'),
        name: objectName('Name of what people must provide.'),
        detail: z.string().max(1024).describe('What is needed.'),
      }),
    )
    .max(100)
    .describe('What people must still provide.'),
  digest: digestField(
    'Digest of everything the plan depends on: document, last applied plan, references, live targets.',
  ),
})
export type PlanContent = z.infer<typeof planContent>

const approval = z.strictObject({
  digest: digestField('content.digest of this plan: what is approved is this plan and no other.'),
  by: z.string().min(1).max(256).describe('User name of who approved.'),
})

export const automationGraphPlanSpec = z
  .strictObject({
    content: planContent.describe('The plan. Frozen.'),
    approval: approval.optional().describe('Approval of this plan, given once, never changed.'),
  })
  .meta({
    'x-kubernetes-validations': [
      { rule: 'self.content == oldSelf.content', message: 'a plan is immutable: change the graph to get another plan' },
      {
        rule: '!has(oldSelf.approval) || (has(self.approval) && self.approval == oldSelf.approval)',
        message: 'an approval is given once and cannot be changed or taken back',
      },
      {
        rule: '!has(self.approval) || self.approval.digest == self.content.digest',
        message: 'approval.digest must be the content.digest of this plan',
      },
      {
        rule: '!has(self.approval) || size(self.content.blockers) == 0',
        message: 'a plan with blockers cannot be approved: resolve them first, which makes a new plan',
      },
    ],
  })

export const planPhases = ['Blocked', 'Pending', 'Approved', 'Applying', 'Applied', 'Stale', 'Failed'] as const
export type PlanPhase = (typeof planPhases)[number]

const journalEntry = z.strictObject({
  kind: z.string().max(63).describe('Kind of the resource.'),
  name: objectName('Name of the resource.'),
  action: z.string().max(32).describe('What is done to it.'),
  state: z.enum(['Started', 'Done']).describe('Started is recorded before the write, Done after it.'),
  uid: uidField('UID of the resource that was written.').optional(),
  time: timeField('When the entry was recorded.'),
})
export type JournalEntry = z.infer<typeof journalEntry>

export const automationGraphPlanStatus = z.strictObject({
  observedGeneration,
  phase: z.enum(planPhases).optional().describe('Where the plan stands.'),
  message: messageField('Why, and what to do next.').optional(),
  changes: z.string().max(256).optional().describe('What applying it does, in words.'),
  blockers: z.int().min(0).optional().describe('Number of blockers.'),
  journal: z.array(journalEntry).max(100).optional().describe('What applying did, in order.'),
  conditions,
})
export type AutomationGraphPlanStatus = z.infer<typeof automationGraphPlanStatus>

export const automationGraphPlan = defineKind({
  kind: 'AutomationGraphPlan',
  plural: 'automationgraphplans',
  shortNames: ['agplan'],
  description:
    'What applying one revision of a graph would do to the live cluster, made by the operator for review. Approving it applies exactly it.',
  spec: automationGraphPlanSpec,
  status: automationGraphPlanStatus,
  columns: [
    { name: 'Graph', type: 'string', jsonPath: '.spec.content.graph' },
    { name: 'Revision', type: 'integer', jsonPath: '.spec.content.revision' },
    { name: 'Phase', type: 'string', jsonPath: '.status.phase' },
    { name: 'Changes', type: 'string', jsonPath: '.status.changes' },
    { name: 'Blockers', type: 'integer', jsonPath: '.status.blockers' },
    { name: 'ApprovedBy', type: 'string', jsonPath: '.spec.approval.by' },
    ageColumn,
  ],
})
export type AutomationGraphPlan = NonNullable<(typeof automationGraphPlan)['example']>
