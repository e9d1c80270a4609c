import { automation } from '../../../src/api/automation.ts'
import { automationFiring } from '../../../src/api/automation-firing.ts'
import { KubeClient } from '../../../src/kube/client.ts'
import { loadKubeConfig } from '../../../src/kube/config.ts'
import { jobType } from '../../../src/kube/core-types.ts'
import { Informer } from '../../../src/kube/informer.ts'
import { Transport } from '../../../src/kube/transport.ts'
import type { KubeObject, ResourceType } from '../../../src/lib/object.ts'
import type { DeepReadonly } from '../../../src/lib/readonly.ts'
import { isSettledFiring } from '../../../src/reconcilers/automation-firing/phase.ts'
import type { Sight } from './sights.ts'

/**
 * A process of its own that watches firings, Automations and Jobs, and says on its standard output when it saw what, by
 * the clock that schedules go by. It ends with its standard input. Arguments: kubeconfig, namespace.
 */

const scheduledAt = 'batch.kubernetes.io/cronjob-scheduled-timestamp'
const tellMillis = 250

const [kubeconfig = '', namespace = ''] = process.argv.slice(2)
const client = new KubeClient(new Transport(loadKubeConfig({ kubeconfig })), [automation, automationFiring, jobType])
const untold: Sight[] = []

async function watch<T extends KubeObject>(
  type: ResourceType<T>,
  see: (object: DeepReadonly<T>, old: DeepReadonly<T> | undefined) => Omit<Sight, 'at' | 'version'> | undefined,
): Promise<void> {
  const onRestart = (reason: string) => {
    // A server ends each watch in order after some minutes; it goes on from where it was.
    if (reason !== 'closed')
      untold.push({ what: 'gap', name: `${type.kind}: ${reason}`, due: '', version: '', at: Date.now() })
  }
  const informer = new Informer(client, type, { namespace, onRestart })
  informer.onChange(({ type: change, object, old, initial }) => {
    const at = Date.now()
    if (initial || change === 'deleted') return
    const seen = see(object, old)
    if (seen !== undefined) untold.push({ ...seen, version: object.metadata.resourceVersion ?? '', at })
  })
  void informer.start(new AbortController().signal)
  await informer.synced
}

const watches = [
  watch(automationFiring, (firing, old) => {
    const { name } = firing.metadata
    const due = firing.spec.occurrence ?? ''
    if (old === undefined) return { what: 'firing', name, due }
    return isSettledFiring(firing) && !isSettledFiring(old) ? { what: 'settled', name, due } : undefined
  }),
  watch(automation, ({ metadata, status }, old) => {
    const due = status?.schedule?.watermark
    if (old === undefined || due === undefined || due === old.status?.schedule?.watermark) return undefined
    return { what: 'watermark', name: metadata.name, due }
  }),
  watch(jobType, ({ metadata }, old) => {
    const due = metadata.annotations?.[scheduledAt]
    if (old !== undefined || due === undefined) return undefined
    return { what: 'job', name: metadata.name, due: new Date(due).toISOString() }
  }),
]

process.stdin.resume().on('end', () => process.exit(0))
await Promise.all(watches)
process.stdout.write('ready\n')
setInterval(() => {
  const lines = untold.splice(0).map((sight) => JSON.stringify(sight))
  if (lines.length > 0) process.stdout.write(`${lines.join('\n')}\n`)
}, tellMillis)
