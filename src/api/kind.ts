import type { z } from 'zod'
import type { Resource, ResourceType } from '../lib/object.ts'

/** API group and version of every kind of this project. */
export const apiGroup = 'graphwright.dev'
export const apiVersion = `${apiGroup}/v1alpha1`

/** A validation rule in the Common Expression Language, evaluated by the API server (KEP-2876). */
export interface CelRule {
  readonly rule: string
  readonly message?: string
  readonly messageExpression?: string
}

/** A column of `kubectl get`. `priority` 1 shows it in the wide output only. */
export interface PrinterColumn {
  readonly name: string
  readonly type: 'string' | 'integer' | 'boolean' | 'date'
  readonly jsonPath: string
  readonly description?: string
  readonly priority?: number
}

/** Everything the CRD of a kind is generated from. */
export interface KindDefinition<Spec, Status> extends ResourceType<Resource<Spec, Status>> {
  readonly singular: string
  readonly shortNames: readonly string[]
  readonly description: string
  readonly spec: z.ZodType<Spec>
  readonly status: z.ZodType<Status>
  readonly columns: readonly PrinterColumn[]
  /** Rules on the object's root: they see the removal of spec and status, which rules further down do not. */
  readonly rules: readonly CelRule[]
}

/** What a kind declares; the rest of its {@link KindDefinition} follows from it. */
export interface KindDeclaration<Spec, Status> {
  readonly kind: string
  readonly plural: string
  readonly shortNames: readonly string[]
  readonly description: string
  readonly spec: z.ZodType<Spec>
  readonly status: z.ZodType<Status>
  readonly columns: readonly PrinterColumn[]
  readonly rules?: readonly CelRule[]
  readonly keepsContent?: boolean
}

/** Defines a namespaced kind of this project's API group. */
export function defineKind<Spec, Status>(declaration: KindDeclaration<Spec, Status>): KindDefinition<Spec, Status> {
  return {
    ...declaration,
    apiVersion,
    namespaced: true,
    singular: declaration.kind.toLowerCase(),
    rules: [nameLength, ...(declaration.rules ?? [])],
  }
}

/** Names become label values and prefixes of children's names, which end at 63 characters. */
const nameLength: CelRule = {
  rule: 'size(self.metadata.name) <= 63',
  message: 'metadata.name is longer than 63 characters; choose a shorter name',
}

/** The age column that closes every list. */
export const ageColumn: PrinterColumn = { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' }

/** Freezes the whole spec. The CRD requires spec at the root, so that removing it is refused as well. */
export const frozenSpec: CelRule = {
  rule: 'self.spec == oldSelf.spec',
  message: 'spec is immutable: create another object instead',
}

/** A status once written cannot be removed whole, which would take its write-once records with it. */
export const statusStays: CelRule = {
  rule: '!has(oldSelf.status) || has(self.status)',
  message: 'status cannot be removed: it holds records that are written once',
}
