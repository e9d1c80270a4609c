import type { KubeObject, ObjectRef } from '../lib/object.ts'
import type { KubeClient } from './client.ts'

export interface EventRecord {
  readonly type: 'Normal' | 'Warning'
  readonly reason: string
  readonly note: string
  /** Default: the reason. */
  readonly action?: string | undefined
}
export interface EventRecorderOptions {
  /** `reportingController`: `graphwright.dev/manager`. */
  readonly controller: string
  /** `reportingInstance`: the pod's name. */
  readonly instance: string
  /** Told of events that could not be written. */
  readonly onError: (message: string, error: unknown) => void
  readonly now?: () => Date
}
export class EventRecorder {
  constructor(_client: KubeClient, _options: EventRecorderOptions) {}
  /** Queues an event and returns at once; never throws. */
  record(_regarding: KubeObject | ObjectRef, _event: EventRecord): void {}
  /** Waits until what is queued has been tried. */
  async flush(): Promise<void> {}
}
