import type { ConfigMap } from '../../../src/kube/core-types.ts'
import { configMapType } from '../../../src/kube/core-types.ts'
import type { KubeObject, Resource, ResourceType } from '../../../src/lib/object.ts'
import type { DeepReadonly } from '../../../src/lib/readonly.ts'
import { setCondition } from '../../../src/runtime/conditions.ts'
import type { ControllerSpec, StatusBase } from '../../../src/runtime/controller.ts'
import { watchOwned } from '../../../src/runtime/controller.ts'

/** A kind for tests of the runtime: it wants as many ConfigMaps as it says. */
export interface ThingSpec {
  children?: number
  text?: string
}
export interface ThingStatus extends StatusBase {
  children?: number
  /** Belongs to another process. */
  usage?: { tokens: number }
}
export type Thing = Resource<ThingSpec, ThingStatus>

export const thingType: ResourceType<Thing> = {
  apiVersion: 'runtime.test/v1',
  kind: 'Thing',
  plural: 'things',
  namespaced: true,
}

const crdType: ResourceType<KubeObject> = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  plural: 'customresourcedefinitions',
  namespaced: false,
}

export const testTypes: readonly ResourceType<KubeObject>[] = [thingType, crdType]

const condition = {
  type: 'object',
  required: ['type', 'status', 'reason', 'message', 'lastTransitionTime'],
  properties: {
    type: { type: 'string' },
    status: { type: 'string' },
    reason: { type: 'string' },
    message: { type: 'string' },
    lastTransitionTime: { type: 'string', format: 'date-time' },
    observedGeneration: { type: 'integer' },
  },
}

const statusSchema = {
  type: 'object',
  properties: {
    children: { type: 'integer' },
    observedGeneration: { type: 'integer' },
    usage: { type: 'object', properties: { tokens: { type: 'integer' } } },
    conditions: {
      type: 'array',
      items: condition,
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['type'],
    },
  },
}

const specSchema = { type: 'object', properties: { children: { type: 'integer' }, text: { type: 'string' } } }

/** The CRD of {@link thingType}. */
export const thingCrd: KubeObject = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'things.runtime.test' },
  ...{
    spec: {
      group: 'runtime.test',
      scope: 'Namespaced',
      names: { kind: 'Thing', listKind: 'ThingList', plural: 'things', singular: 'thing' },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          subresources: { status: {} },
          schema: {
            openAPIV3Schema: {
              type: 'object',
              required: ['spec'],
              properties: { spec: specSchema, status: statusSchema },
            },
          },
        },
      ],
    },
  },
}

export function thing(name: string, namespace: string, spec: ThingSpec = {}): Thing {
  return { apiVersion: thingType.apiVersion, kind: 'Thing', metadata: { name, namespace }, spec }
}

/** A ConfigMap named after its thing. */
export function childOf(object: DeepReadonly<Thing>, index: number, data: Record<string, string> = {}): ConfigMap {
  const { name, namespace } = object.metadata
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: `${name}-${index}`, ...(namespace !== undefined && { namespace }) },
    data,
  }
}

/** `Ready=True` beside whatever else is in the status. */
export function readyStatus(object: DeepReadonly<Thing>, now: Date, more: ThingStatus = {}): ThingStatus {
  const ready = { type: 'Ready', status: 'True', reason: 'Done', message: 'everything is as it should be' } as const
  const conditions = setCondition(object.status?.conditions, ready, object.metadata.generation ?? 0, now)
  return { ...more, conditions }
}

/** Creates what is wanted, applies one more with the text, says when it is done. */
export const thingController: ControllerSpec<Thing, ThingStatus> = {
  name: 'things',
  for: thingType,
  ready: 'Ready',
  fieldManager: 'runtime-test',
  foreignStatus: ['usage'],
  watches: [watchOwned(configMapType, thingType)],
  reconcile: (object, { now }) => {
    const wanted = object.spec.children ?? 0
    const create = Array.from({ length: wanted }, (_, index) => childOf(object, index, { index: String(index) }))
    const { text } = object.spec
    const settings = childOf(object, 1000, { text: text ?? '' })
    return {
      create,
      ...(text !== undefined && { apply: [settings] }),
      status: readyStatus(object, now, { children: wanted }),
      events:
        object.status?.children === wanted ? [] : [{ type: 'Normal', reason: 'Settled', note: 'all children exist' }],
    }
  },
}
