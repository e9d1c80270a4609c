import { z } from 'zod'
import { anyObject, conditions, objectName, observedGeneration, stringMap } from './fields.ts'
import { ageColumn, defineKind } from './kind.ts'

const envVar = z.strictObject({
  name: z
    .string()
    .max(256)
    .regex(/^[A-Za-z_][A-Za-z0-9_]*$/)
    .describe('Name of the variable.'),
  value: z
    .string()
    .max(32768)
    .describe('Its literal value. Secrets do not belong here: a Connection injects them outside the pod.'),
})

const isolationProbe = z.strictObject({
  host: z.string().min(1).max(253).describe('Address inside the cluster that an isolated pod must not reach.'),
  port: z.int().min(1).max(65535).describe('TCP port tried.'),
})

export const environmentSpec = z.strictObject({
  image: z.string().min(1).max(1024).optional().describe('Image of the main container where the Agent names none.'),
  resources: z
    .strictObject({
      requests: stringMap('Requested quantities by resource name.').optional(),
      limits: stringMap('Upper bounds by resource name.').optional(),
    })
    .optional()
    .describe('Compute resources of the main container.'),
  env: z.array(envVar).max(64).optional().describe('Literal environment variables of the main container.'),
  imagePullSecrets: z
    .array(objectName('Name of a Secret in the same namespace.'))
    .max(8)
    .optional()
    .describe('Secrets the kubelet pulls the image with. Naming one needs permission to read it.'),
  runtimeClassName: objectName('RuntimeClass of the pods, for example a sandboxed one.').optional(),
  priorityClassName: objectName('PriorityClass of the pods.').optional(),
  nodeSelector: stringMap('Labels that a node must have.').optional(),
  tolerations: z
    .array(anyObject('A toleration as in a pod.'))
    .max(16)
    .optional()
    .describe('Taints that the pods tolerate.'),
  podLabels: stringMap('Labels added to the pods. Labels of graphwright.dev are refused.').optional(),
  podAnnotations: stringMap('Annotations added to the pods.').optional(),
  deadlineSeconds: z
    .int()
    .min(1)
    .max(86400)
    .default(3600)
    .describe('Seconds a pod may run before it is ended; a step may ask for less. Default 3600.'),
  workspaceSize: z
    .string()
    .max(32)
    .regex(/^[0-9]+(Ki|Mi|Gi)$/)
    .default('1Gi')
    .describe('Size limit of the scratch volume that the containers share. Default 1Gi.'),
  network: z
    .enum(['isolated', 'open'])
    .default('isolated')
    .describe(
      'isolated: the pod reaches the gateway and nothing else, and proves it before it starts. open: no restriction by the operator. Default isolated.',
    ),
  isolationProbes: z
    .array(isolationProbe)
    .max(8)
    .optional()
    .describe('Further addresses that an isolated pod must fail to reach, beside the API server.'),
})
export type EnvironmentSpec = z.infer<typeof environmentSpec>

export const environmentStatus = z.strictObject({ observedGeneration, conditions })
export type EnvironmentStatus = z.infer<typeof environmentStatus>

export const environment = defineKind({
  kind: 'Environment',
  plural: 'environments',
  shortNames: ['agentenv'],
  description:
    'Where the pods of a workspace run: image, resources, placement and network. Admitted work keeps the snapshot it was admitted with.',
  spec: environmentSpec,
  status: environmentStatus,
  columns: [
    { name: 'Image', type: 'string', jsonPath: '.spec.image' },
    { name: 'Network', type: 'string', jsonPath: '.spec.network', priority: 1 },
    { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
    ageColumn,
  ],
})
export type Environment = NonNullable<(typeof environment)['example']>
