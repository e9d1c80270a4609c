import { withCluster } from './cluster.ts'
import { cannotAsk, type ExitCode, exitCodes, type Io } from './io.ts'
import type { GlobalOptions } from './options.ts'
import { print } from './output.ts'
import { type Effect, type Finding, type Found, findingsOf } from './uninstall-findings.ts'
import { type Step, stepsOf } from './uninstall-steps.ts'
import { type InstalledManager, type Survey, survey, type Unread } from './uninstall-survey.ts'

export interface UninstallOptions extends GlobalOptions {
  readonly check?: boolean
  readonly workspaces?: string
}

/** What was found, and what to do. */
export interface UninstallReport {
  readonly kind: 'uninstallCheck'
  /** Nothing was found, and everything was looked at. */
  readonly clean: boolean
  readonly managers: readonly InstalledManager[]
  readonly findings: readonly Finding[]
  readonly unread: readonly Unread[]
  readonly steps: readonly Step[]
}

/**
 * `uninstall --check`: what an uninstallation would break, lose or leave behind, and the commands to run, in order. It
 * changes nothing. What may not be read is not known to be absent.
 */
export async function uninstallCommand(options: UninstallOptions, io: Io): Promise<ExitCode> {
  if (options.check !== true) {
    throw cannotAsk(
      'usage',
      `${io.invocation} uninstalls nothing itself: ${io.invocation} uninstall --check says what to do`,
    )
  }
  return withCluster(options, async ({ client }) => {
    const operators = options.namespace === undefined ? [] : [options.namespace]
    const workspaces = (options.workspaces ?? '').split(',').filter((name) => name !== '')
    const report = reportOf(await survey(client, { operators, workspaces }))
    print(io, options, report, () => renderReport(report))
    if (report.findings.length > 0 || report.managers.length > 0) return exitCodes.refused
    return report.clean ? exitCodes.ok : exitCodes.couldNotAsk
  })
}

/** What the survey comes to. */
export function reportOf(found: Survey): UninstallReport {
  const findings = findingsOf(found)
  const { managers, unread } = found
  const clean = findings.length === 0 && unread.length === 0 && managers.length === 0
  return { kind: 'uninstallCheck', clean, managers, findings, unread, steps: stepsOf(found) }
}

const shownObjects = 10

const effects: Readonly<Record<Effect, string>> = {
  breaks: 'WOULD BREAK',
  lost: 'WOULD BE LOST',
  left: 'WOULD STAY',
}

/** For people. */
export function renderReport({ clean, managers, findings, unread, steps }: UninstallReport): string {
  if (clean) return 'Nothing of Graphwright is left here.'
  const parts = [
    managers.length === 0 ? 'No manager is installed.' : managers.map(renderManager).join('\n'),
    ...findings.map(renderFinding),
    ...(unread.length === 0 ? [] : [renderUnread(unread)]),
    ...(steps.length === 0 ? [] : [renderSteps(steps)]),
  ]
  return parts.join('\n\n')
}

function renderManager({ namespace, isReady, namespaces }: InstalledManager): string {
  const serves = namespaces.length === 0 ? 'all namespaces' : namespaces.join(', ')
  return `A manager is installed in ${namespace}, ${isReady ? 'ready' : 'not ready'}. It serves ${serves}.`
}

function renderFinding({ effect, message, objects }: Finding): string {
  const shown = objects.slice(0, shownObjects).map((object) => `  ${renderObject(object)}`)
  const more = objects.length - shown.length
  return [
    `${effects[effect]}  ${objects.length} × ${message}:`,
    ...shown,
    ...(more > 0 ? [`  and ${more} more`] : []),
  ].join('\n')
}

function renderObject({ kind, namespace, name, detail }: Found): string {
  return `${kind} ${namespace === undefined ? '' : `${namespace}/`}${name}${detail === undefined ? '' : ` (${detail})`}`
}

function renderUnread(unread: readonly Unread[]): string {
  const lines = unread.map(({ resource, namespace, message }) => {
    return `  ${resource} ${namespace === undefined ? 'in the whole cluster' : `in ${namespace}`}: ${message}`
  })
  return ['NOT KNOWN  You may not read these, so that there may be more:', ...lines].join('\n')
}

function renderSteps(steps: readonly Step[]): string {
  const lines = steps.map(({ why, command }, index) => `  ${index + 1}. ${why}\n     ${command}`)
  return ['To leave nothing behind, in this order:', ...lines].join('\n')
}
