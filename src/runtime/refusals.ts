import { isForbidden, isInvalid, KubeError } from '../kube/error.ts'
import type { KubeObject } from '../lib/object.ts'
import { Terminal, Wait } from './result.ts'

/** Quotas have no event that would wake us. */
const quotaMillis = 5000
/** Defaults and admission change without a trace on the refused object. */
const invalidMillis = 30_000

/**
 * What it means that the API server did not create an object: that there is no room for it now, that it breaks a rule,
 * or else the error itself.
 */
export function refusalOf(error: unknown, meant: KubeObject): unknown {
  const quota = isForbidden(error) ? /exceeded quota: ([^,\s]+)/.exec(error.message)?.[1] : undefined
  if (quota !== undefined) {
    const message = `The ResourceQuota ${quota} of the namespace has no room for another ${meant.kind}; it is created when there is`
    return new Wait('QuotaExceeded', message, quotaMillis)
  }
  if (!isInvalid(error) && !isUnreadable(error)) return error
  return new Terminal('Invalid', `The API server refuses the ${meant.kind}: ${problemsOf(error)}`, invalidMillis)
}

/** The API server cannot make sense of it, of a quantity that is none for example. */
function isUnreadable(error: unknown): error is KubeError {
  return error instanceof KubeError && error.status === 400
}

/** The fields at fault. The message of an answer with them begins with the generated name of the object. */
function problemsOf({ details, message }: KubeError): string {
  const problems = (details?.causes ?? []).map((cause) => [cause.field, cause.message].filter(Boolean).join(': '))
  return problems.length === 0 ? message : problems.join('; ')
}
