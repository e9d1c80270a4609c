import type { pauseClasses } from '../../api/pause.ts'
import { snakeCase } from '../../program/reasons.ts'

/**
 * What a failure says about the next firing (N-135).
 *
 * - `Runtime`: it will fail again until somebody mends it.
 * - `Transient`: something outside is in the way and may pass by itself (N-152).
 * - `Connection`: a provider has to be connected by its owner, which only a run finds out (N-141).
 * - `Precondition`: something that the Automation needs is missing. A check of its readiness holds it back before
 *   anything starts (N-138), and lets go when the thing is there (N-150): a pause would add nothing.
 * - `Request`: what was asked for cannot be done; it says nothing about the next one.
 * - `Interrupted`: it was ended from outside, not by a failure of its own.
 */
export type FailureClass = (typeof pauseClasses)[number] | 'Precondition' | 'Request' | 'Interrupted'

/** Reasons as codes; every one that is not listed is `Runtime`, so that an unknown failure waits for people. */
const classes: Readonly<Record<Exclude<FailureClass, 'Runtime'>, readonly string[]>> = {
  Connection: ['connection_required'],
  Transient: [
    'credential_store_unreadable',
    'credits_exhausted',
    'rate_limited',
    'provider_unavailable',
    'gateway_unreachable',
    'image_unavailable',
    'pod_lost',
    'pod_deleted',
    'job_deleted',
    'disrupted',
    'turned_away',
  ],
  Precondition: [
    'missing_credentials',
    'not_ready',
    'agent_missing',
    'agent_version_missing',
    'environment_missing',
    'environment_invalid',
    'service_account_missing',
    'image_missing',
    'program_missing',
    'program_too_new',
    'program_too_old',
    'program_damaged',
  ],
  Request: [
    'automation_not_found',
    'owner_conflict',
    'name_mismatch',
    'entry_unknown',
    'entry_ambiguous',
    'event_too_large',
  ],
  Interrupted: ['interrupted', 'cancelled', 'session_deleted', 'run_deleted'],
}

const byCode: ReadonlyMap<string, FailureClass> = new Map(
  Object.entries(classes).flatMap(([name, codes]) => codes.map((code) => [code, name as FailureClass] as const)),
)

/** @param reason reason of a failed firing, in CamelCase */
export function failureClass(reason: string): FailureClass {
  return byCode.get(snakeCase(reason)) ?? 'Runtime'
}

/** True for a failure that brings a pause nearer. */
export function countsToPause(reason: string): boolean {
  const found = failureClass(reason)
  return found === 'Runtime' || found === 'Transient' || found === 'Connection'
}
