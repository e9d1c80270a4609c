import { onTestFinished } from 'vitest'
import { addControllers } from '../../src/controllers/all.ts'
import { ContentFiles } from '../../src/gateway/contents.ts'
import type { KubeClient } from '../../src/kube/client.ts'
import { EventRecorder } from '../../src/kube/events.ts'
import { whoAmI } from '../../src/kube/identity.ts'
import { digestBytes } from '../../src/lib/digest.ts'
import type { PruningRules } from '../../src/reconcilers/automation/pruning.ts'
import { systemClock } from '../../src/runtime/clock.ts'
import type { ContentStore } from '../../src/runtime/content-store.ts'
import { silentLogger } from '../../src/runtime/log.ts'
import { Manager, type ManagerOptions } from '../../src/runtime/manager.ts'
import { Metrics } from '../../src/runtime/metrics.ts'
import { WorkerSchemaValidator } from '../../src/runtime/schema-validator.ts'
import { jobSettings } from './job-settings.ts'
import { temporaryFolder } from './temporary-folder.ts'

/** A running manager with every controller of the operator, as the binary wires it. */
export interface Operator {
  readonly manager: Manager
  /** Stops it; the end of the test does so too. */
  stop(): Promise<void>
}

export interface OperatorOptions extends Partial<ManagerOptions> {
  readonly contents?: ContentStore
  readonly pruning?: PruningRules
}

/** Starts the operator for one namespace. Without a gateway, its contents are files of this test. */
export async function startOperator(
  client: KubeClient,
  namespace: string,
  { contents, pruning, ...options }: OperatorOptions = {},
): Promise<Operator> {
  const manager = new Manager({
    client,
    clock: systemClock,
    log: silentLogger,
    metrics: new Metrics(),
    events: new EventRecorder(client, { controller: 'graphwright.dev/manager', instance: 'test', onError: () => {} }),
    namespaces: [namespace],
    freeze: true,
    ...options,
  })
  const schemas = new WorkerSchemaValidator()
  addControllers(manager, {
    approver: await whoAmI(client),
    contents: contents ?? fileContents(await ContentFiles.open(temporaryFolder())),
    schemas,
    jobs: jobSettings,
    operatorNamespace: 'graphwright-system',
    ...(pruning !== undefined && { pruning }),
  })
  let stopped: Promise<void> | undefined
  const stop = () => {
    stopped ??= manager.stop(1000).then(() => schemas.close())
    return stopped
  }
  onTestFinished(stop)
  await manager.start()
  return { manager, stop }
}

/** The gateway's content store without the gateway in between. */
export function fileContents(files: ContentFiles): ContentStore {
  return {
    async put(text) {
      const bytes = Buffer.from(text)
      const digest = digestBytes(bytes)
      await files.put(digest, bytes)
      return { digest, size: bytes.byteLength }
    },
    async get(digest) {
      return Buffer.from(await files.get(digest)).toString('utf8')
    },
  }
}
