import type { KindDefinition, PrinterColumn } from './kind.ts'
import { type StructuralSchema, structuralSchema } from './structural-schema.ts'

/** `apiextensions.k8s.io/v1` CustomResourceDefinition, as far as it is generated. */
export interface CustomResourceDefinition {
  apiVersion: 'apiextensions.k8s.io/v1'
  kind: 'CustomResourceDefinition'
  metadata: { name: string; annotations?: Record<string, string> }
  spec: {
    group: string
    scope: 'Namespaced' | 'Cluster'
    names: {
      kind: string
      listKind: string
      plural: string
      singular: string
      shortNames?: string[]
      categories: string[]
    }
    versions: {
      name: string
      served: boolean
      storage: boolean
      schema: { openAPIV3Schema: StructuralSchema }
      subresources: { status: Record<string, never> }
      additionalPrinterColumns: PrinterColumn[]
    }[]
  }
}

/** `kubectl get graphwright` lists every kind of this category. */
const category = 'graphwright'

/** What the generator reads of a kind; the types of its objects do not matter here. */
export type AnyKind = Omit<KindDefinition<unknown, unknown>, 'example'>

/**
 * The CRD of a kind: schema, rules and columns all come from its declaration in this folder.
 * @throws {StructuralSchemaError} naming the field whose schema cannot be enforced by the API server
 */
export function crdOf(kind: AnyKind): CustomResourceDefinition {
  const [group = '', version = ''] = kind.apiVersion.split('/')
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${kind.plural}.${group}` },
    spec: {
      group,
      scope: kind.namespaced ? 'Namespaced' : 'Cluster',
      names: {
        kind: kind.kind,
        listKind: `${kind.kind}List`,
        plural: kind.plural,
        singular: kind.singular,
        ...(kind.shortNames.length > 0 ? { shortNames: [...kind.shortNames] } : {}),
        categories: [category],
      },
      versions: [
        {
          name: version,
          served: true,
          storage: true,
          schema: { openAPIV3Schema: rootSchema(kind) },
          subresources: { status: {} },
          additionalPrinterColumns: kind.columns.map((column) => ({ ...column })),
        },
      ],
    },
  }
}

function rootSchema(kind: AnyKind): StructuralSchema {
  const spec = structuralSchema(kind.spec, `${kind.kind}.spec`)
  const status = structuralSchema(kind.status, `${kind.kind}.status`)
  return {
    description: kind.description,
    type: 'object',
    // Rules on spec do not see its removal: without this, `spec: null` would pass every one of them.
    required: ['spec'],
    properties: {
      apiVersion: { type: 'string', description: 'Version of the schema of this object.' },
      kind: { type: 'string', description: 'Kind of this object.' },
      // The server describes metadata itself and refuses anything here but a type.
      metadata: { type: 'object' },
      spec: { ...spec, description: spec.description ?? 'What is wanted.' },
      status: { ...status, description: status.description ?? 'What was observed. Written by the operator.' },
    },
    'x-kubernetes-validations': kind.rules.map((rule) => ({ ...rule })),
  }
}
