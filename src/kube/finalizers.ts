import type { KubeObject } from '../lib/object.ts'
import type { KubeClient } from './client.ts'

export async function addFinalizer(_client: KubeClient, _object: KubeObject, _finalizer: string): Promise<void> {}
export async function removeFinalizer(_client: KubeClient, _object: KubeObject, _finalizer: string): Promise<void> {}
