import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { dump } from 'js-yaml'

/** One request, as the API server wrote it down. */
export interface AuditedRequest {
  readonly user: string
  readonly verb: string
  /** `jobs.batch`, `runs.graphwright.dev/status`; a path such as `/openid/v1/jwks` where no resource was asked for. */
  readonly target: string
  /** Undefined for what has none. */
  readonly namespace: string | undefined
  readonly code: number
}

interface Line {
  readonly user: { readonly username: string }
  readonly verb: string
  readonly requestURI: string
  readonly objectRef?: { resource?: string; apiGroup?: string; subresource?: string; namespace?: string }
  readonly responseStatus?: { readonly code?: number }
}

/** The audit log of a control plane: everything that these users ask for, with what was answered. */
export class AuditLog {
  /** For the control plane. */
  readonly apiServerFlags: readonly string[]
  readonly #folder: string
  readonly #log: string

  constructor(users: readonly string[]) {
    this.#folder = mkdtempSync(join(tmpdir(), 'graphwright-audit-'))
    // The API server may run as another user.
    chmodSync(this.#folder, 0o777)
    this.#log = join(this.#folder, 'audit.log')
    const policy = join(this.#folder, 'policy.yaml')
    writeFileSync(
      policy,
      dump({
        apiVersion: 'audit.k8s.io/v1',
        kind: 'Policy',
        // A watch is written down when it begins: its end may be minutes away.
        rules: [{ level: 'Metadata', users: [...users], omitStages: ['RequestReceived'] }, { level: 'None' }],
      }),
    )
    this.apiServerFlags = [
      `--audit-policy-file=${policy}`,
      `--audit-log-path=${this.#log}`,
      '--audit-log-mode=blocking',
    ]
  }

  requests(): AuditedRequest[] {
    const lines = readFileSync(this.#log, 'utf8').split('\n')
    return lines.filter((line) => line !== '').map((line) => requestOf(JSON.parse(line) as Line))
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true, force: true })
  }
}

function requestOf({ user, verb, requestURI, objectRef, responseStatus }: Line): AuditedRequest {
  const { resource, apiGroup, subresource, namespace } = objectRef ?? {}
  const name = `${resource}${apiGroup === undefined ? '' : `.${apiGroup}`}`
  const target = subresource === undefined ? name : `${name}/${subresource}`
  return {
    user: user.username,
    verb,
    target: resource === undefined ? (requestURI.split('?')[0] ?? '') : target,
    namespace,
    code: responseStatus?.code ?? 0,
  }
}
