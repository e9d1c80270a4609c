import { KubeConfigError } from '../kube/config.ts'
import { KubeError } from '../kube/error.ts'
import { type CliCode, CliError, cannotAsk, exitCodes } from './io.ts'

/** Any failure as one line that says what to do next. */
export function explain(error: unknown, signal: AbortSignal): CliError {
  if (error instanceof CliError) return error
  if (signal.aborted) return new CliError(exitCodes.interrupted, 'interrupted' satisfies CliCode, 'interrupted')
  if (error instanceof KubeConfigError) {
    return cannotAsk('kubeconfig', `${error.message}; name one by --kubeconfig or choose by --context`, error)
  }
  if (error instanceof KubeError) return explainKubeError(error)
  const message = error instanceof Error ? error.message : String(error)
  return cannotAsk('internal', `this is a mistake in graphwright, please report it: ${message}`, error)
}

/** A kind, or as after an uninstallation the whole group, is unknown: no Status then names an object. */
function isUnknownPath({ message, details }: KubeError): boolean {
  return message.includes('could not find the requested resource') || details === undefined
}

function explainKubeError(error: KubeError): CliError {
  const { status, message } = error
  if (status === 0) {
    return cannotAsk(
      'unreachable',
      `${message.replace(/[.?]$/, '')}; check that it runs, or choose another by --context`,
      error,
    )
  }
  if (status === 401) return cannotAsk('unauthorized', message, error)
  if (status === 403) {
    const isRbac = /is forbidden: User/.test(message)
    const advice =
      '; ask an administrator for the role graphwright-edit (graphwright-view to look, graphwright-approver to approve) here'
    return cannotAsk('forbidden', isRbac ? message + advice : message, error)
  }
  if (status === 404 && isUnknownPath(error)) {
    return cannotAsk(
      'not_installed',
      'the API server does not know the kinds of graphwright.dev: install the operator first, or choose another cluster by --context',
      error,
    )
  }
  return new CliError(exitCodes.couldNotAsk, error.reason, message, error)
}
