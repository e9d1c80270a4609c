import { inject } from 'vitest'
import { kinds } from '../../../src/api/kinds.ts'
import { fieldManagers } from '../../../src/api/labels.ts'
import type { KubeClient } from '../../../src/kube/client.ts'
import type { KubeObject, ResourceType } from '../../../src/lib/object.ts'
import { unsaved } from '../../kit/builders.ts'
import { testClient } from '../../kit/control-plane.ts'
import { type CliAnswer, type CliWorld, runCli } from '../../kit/fake-io.ts'

/** A client of the administrator that knows the kinds. */
export function adminClient(): KubeClient {
  return testClient({ types: kinds })
}

/** Runs the tool in a namespace of the control plane, as its administrator or as another user. */
export function cliIn(namespace: string, user?: string): (args: string[], world?: CliWorld) => Promise<CliAnswer> {
  const path = user === undefined ? inject('kubeconfig') : inject('userKubeconfigs')[user]
  if (path === undefined) throw new Error(`no user ${user}`)
  return (args, world) => runCli([...args, '-n', namespace, '--kubeconfig', path], world)
}

type Stored = KubeObject & { spec: unknown; status?: unknown }

/** Creates an object together with the status that the operator would have written. */
export async function store<T extends Stored>(client: KubeClient, namespace: string, object: T): Promise<T> {
  const created = await client.create(unsaved(object, namespace))
  return object.status === undefined ? created : setStatus(client, created, object.status as NonNullable<T['status']>)
}

/** Plays the operator: writes the status of an object. */
export async function setStatus<T extends Stored>(
  client: KubeClient,
  object: T,
  status: NonNullable<T['status']>,
): Promise<T> {
  const { apiVersion, kind, metadata } = object
  const type = client.typeOf(apiVersion, kind) as ResourceType<T>
  const live = await client.get(type, metadata)
  return client.applyStatus({ ...live, status }, { fieldManager: fieldManagers.manager })
}
