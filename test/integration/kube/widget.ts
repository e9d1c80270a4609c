import type { KubeClient } from '../../../src/kube/client.ts'
import type { KubeObject, Resource, ResourceType } from '../../../src/lib/object.ts'
import { type TestClientOptions, testClient } from '../../kit/control-plane.ts'
import { eventually } from '../../kit/eventually.ts'

/** A kind for tests of the client: a spec and a status with two fields each. */
export type Widget = Resource<{ size?: number; colour?: string; text?: string }, { seen?: number; note?: string }>

export const widgetType: ResourceType<Widget> = {
  apiVersion: 'kube.test/v1',
  kind: 'Widget',
  plural: 'widgets',
  namespaced: true,
}

const crdType: ResourceType<KubeObject> = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  plural: 'customresourcedefinitions',
  namespaced: false,
}

const text = { type: 'string' }
const integer = { type: 'integer' }
const schema = {
  type: 'object',
  properties: {
    spec: { type: 'object', properties: { size: integer, colour: text, text } },
    status: { type: 'object', properties: { seen: integer, note: text } },
  },
}

const widgetCrd = {
  apiVersion: crdType.apiVersion,
  kind: crdType.kind,
  metadata: { name: 'widgets.kube.test' },
  spec: {
    group: 'kube.test',
    scope: 'Namespaced',
    names: { kind: 'Widget', listKind: 'WidgetList', plural: 'widgets', singular: 'widget' },
    versions: [
      { name: 'v1', served: true, storage: true, subresources: { status: {} }, schema: { openAPIV3Schema: schema } },
    ],
  },
} satisfies KubeObject & { spec: object }

/** A client that knows widgets, of a server that does too. */
export async function widgetClient(options: TestClientOptions = {}): Promise<KubeClient> {
  const client = testClient({ ...options, types: [widgetType, crdType] })
  await client.apply(widgetCrd, { fieldManager: 'test' })
  await eventually(async () => (await client.list(widgetType)).resourceVersion !== '')
  return client
}

export function widget(name: string, namespace: string, spec: Widget['spec'] = {}): Widget {
  return { apiVersion: widgetType.apiVersion, kind: widgetType.kind, metadata: { name, namespace }, spec }
}
