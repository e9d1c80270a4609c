import { type AutomationFiring, automationFiring } from '../api/automation-firing.ts'
import { annotations, fieldManagers } from '../api/labels.ts'
import { whoAmI } from '../kube/identity.ts'
import { refOf } from '../lib/object.ts'
import { type Cluster, getNamed, withCluster } from './cluster.ts'
import { type ExitCode, exitCodes, type Io, refusal } from './io.ts'
import type { GlobalOptions } from './options.ts'
import { print } from './output.ts'
import { isSettled } from './receipt.ts'

export interface CancelOptions extends GlobalOptions {
  readonly reason?: string
}

/**
 * `cancel FIRING`: asks a firing to end. Nothing new starts, and what is under way is told to end, which takes up to two
 * minutes. Whoever asked first is told of.
 */
export async function cancelCommand(name: string, options: CancelOptions, io: Io): Promise<ExitCode> {
  return withCluster(options, async (cluster) => {
    const firing = await getNamed(cluster, automationFiring, name)
    if (isSettled(firing)) {
      const ended = `the firing ${name} has ended already (${firing.status?.phase})`
      throw refusal('validation.conflict', `${ended}; there is nothing left to cancel, see its trace`)
    }
    const before = firing.metadata.annotations?.[annotations.cancelRequested]
    const why = before ?? (await ask(firing, options.reason, cluster))
    const data = { kind: 'cancelling', firing: name, namespace: cluster.namespace, reason: why }
    print(io, options, data, () => {
      const told = before === undefined ? 'is being cancelled' : 'was being cancelled already'
      return [
        `Firing ${name} ${told} (${why}).`,
        `What it has done stays done. Next: ${io.invocation} trace ${name}; its work has ended within two minutes.`,
      ].join('\n')
    })
    return exitCodes.ok
  })
}

async function ask(firing: AutomationFiring, reason: string | undefined, { client }: Cluster): Promise<string> {
  const user = await whoAmI(client)
  const why = reason === undefined || reason.trim() === '' ? user : `${user}: ${reason.trim()}`
  const patch = { metadata: { annotations: { [annotations.cancelRequested]: why } } }
  await client.mergePatch(refOf(firing), patch, { fieldManager: fieldManagers.cli })
  return why
}
