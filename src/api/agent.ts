import { z } from 'zod'
import { conditions, digestField, objectName, observedGeneration, uidField } from './fields.ts'
import { ageColumn, defineKind, frozenSpec } from './kind.ts'

const containerRuntime = z.strictObject({
  image: z.string().min(1).max(1024).optional().describe('Image to run; default the image of the Environment.'),
  command: z
    .array(z.string().max(32768))
    .max(64)
    .optional()
    .describe('Entry point, not run in a shell; default that of the image.'),
  args: z.array(z.string().max(32768)).max(64).optional().describe('Arguments of the entry point.'),
})

const runtime = z
  .strictObject({
    container: containerRuntime
      .optional()
      .describe('A container of yours: input under /graphwright/input, result in /graphwright/output/result.'),
  })
  .meta({
    description: 'How the agent runs: exactly one of the members.',
    'x-kubernetes-validations': [
      { rule: 'has(self.container)', message: 'runtime needs exactly one member; this release knows container' },
    ],
  })

const agentConfiguration = {
  runtime,
  repeatSafe: z
    .boolean()
    .default(false)
    .describe(
      'True where a lost run may simply be run again. Otherwise a run lost after its start ends Indeterminate. Default false.',
    ),
}

export const agentSpec = z.strictObject({
  description: z.string().max(1024).optional().describe('What the agent does, for people. Not part of a version.'),
  ...agentConfiguration,
})
export type AgentSpec = z.infer<typeof agentSpec>

export const agentStatus = z.strictObject({
  observedGeneration,
  latestVersion: z
    .strictObject({
      name: objectName('Name of the AgentVersion.'),
      number: z.int().min(1).describe('Its number.'),
      digest: digestField('Digest of its configuration.'),
      uid: uidField('UID of the AgentVersion.'),
    })
    .optional()
    .describe('The newest published version.'),
  conditions,
})
export type AgentStatus = z.infer<typeof agentStatus>

export const agent = defineKind({
  kind: 'Agent',
  plural: 'agents',
  shortNames: [],
  description: 'Configuration of an agent. Each change publishes an immutable, numbered AgentVersion.',
  spec: agentSpec,
  status: agentStatus,
  columns: [
    { name: 'Version', type: 'integer', jsonPath: '.status.latestVersion.number' },
    { name: 'Image', type: 'string', jsonPath: '.spec.runtime.container.image', priority: 1 },
    { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
    ageColumn,
  ],
})
export type Agent = NonNullable<(typeof agent)['example']>

export const agentVersionSpec = z.strictObject({
  agent: objectName('Name of the Agent this is a version of.'),
  version: z.int().min(1).describe('Number of the version, starting at 1.'),
  digest: digestField('Digest of runtime and repeatSafe.'),
  ...agentConfiguration,
})
export type AgentVersionSpec = z.infer<typeof agentVersionSpec>

export const agentVersion = defineKind({
  kind: 'AgentVersion',
  plural: 'agentversions',
  shortNames: ['agver'],
  description:
    'An immutable copy of an Agent, made by the operator. Programs pin versions, so that editing an Agent never changes admitted work.',
  spec: agentVersionSpec,
  status: z.strictObject({ observedGeneration, conditions }),
  columns: [
    { name: 'Agent', type: 'string', jsonPath: '.spec.agent' },
    { name: 'Version', type: 'integer', jsonPath: '.spec.version' },
    { name: 'Digest', type: 'string', jsonPath: '.spec.digest' },
    ageColumn,
  ],
  rules: [frozenSpec],
})
export type AgentVersion = NonNullable<(typeof agentVersion)['example']>
