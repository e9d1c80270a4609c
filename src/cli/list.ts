import { type Automation, automation } from '../api/automation.ts'
import { formatSpan } from '../lib/duration.ts'
import { describeTriggers } from '../schedule/describe.ts'
import { withCluster } from './cluster.ts'
import { type ExitCode, exitCodes, type Io } from './io.ts'
import type { GlobalOptions } from './options.ts'
import { print } from './output.ts'
import { table } from './table.ts'

export interface ListOptions extends GlobalOptions {
  readonly allNamespaces?: boolean
}

/** `list`: the Automations, with state, trigger in words and last run (A-547). */
export async function listCommand(options: ListOptions, io: Io): Promise<ExitCode> {
  return withCluster(options, async ({ client, namespace }) => {
    const all = options.allNamespaces === true
    const { items } = await client.list(automation, all ? {} : { namespace })
    print(io, options, { items: items.map(automationData) }, () =>
      items.length === 0
        ? `No Automations${all ? '' : ` in the namespace ${namespace}`}.`
        : renderAutomations(items, all, io.clock.now()),
    )
    return exitCodes.ok
  })
}

function automationData({ metadata, spec, status }: Automation): object {
  return {
    name: metadata.name,
    namespace: metadata.namespace,
    uid: metadata.uid,
    state: status?.state ?? null,
    trigger: describeTriggers(spec.triggers),
    next: status?.next ?? null,
    last: status?.last ?? null,
    active: status?.active?.length ?? 0,
    readiness: status?.readiness ?? [],
  }
}

/** The Automations as a table; what keeps one from starting stands below it. */
export function renderAutomations(items: readonly Automation[], withNamespace: boolean, now: Date): string {
  const header = ['NAME', 'STATE', 'TRIGGER', 'NEXT', 'LAST RUN']
  const rows = items.map(({ metadata, spec, status }) => {
    const last = status?.last
    const row = [
      metadata.name,
      status?.state,
      describeTriggers(spec.triggers),
      status?.next,
      last && `${last.result} ${formatSpan(last.time, now.toISOString())} ago`,
    ]
    return withNamespace ? [metadata.namespace, ...row] : row
  })
  const problems = items.flatMap(({ metadata, status }) =>
    (status?.readiness ?? []).map(({ message }) => `${metadata.name} is not ready: ${message}`),
  )
  return [table(withNamespace ? ['NAMESPACE', ...header] : header, rows), ...problems].join('\n')
}
