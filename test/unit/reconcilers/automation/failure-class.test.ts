import { describe, expect, it } from 'vitest'
import { camelCase } from '../../../../src/program/reasons.ts'
import { countsToPause, failureClass } from '../../../../src/reconcilers/automation/failure-class.ts'

describe('[N-135] the class of a failure', () => {
  it.each([
    ['[N-152] spent credits', 'CreditsExhausted', 'Transient'],
    ['[N-152] [N-197] a credential store that cannot be read', 'CredentialStoreUnreadable', 'Transient'],
    ['[N-152] a remote host that fails', 'ProviderUnavailable', 'Transient'],
    ['[N-152] a rate limit', 'RateLimited', 'Transient'],
    ['[N-152] an image that cannot be had', 'ImageUnavailable', 'Transient'],
    ['[N-152] a node that took the pod with it', 'PodLost', 'Transient'],
    ['[N-152] a gateway that is not reached', 'GatewayUnreachable', 'Transient'],
    ['[N-141] a provider that is not connected', 'ConnectionRequired', 'Connection'],
    ['[N-197] a credential that is not there', 'MissingCredentials', 'Precondition'],
    ['[N-151] [N-197] a credential that is refused', 'CredentialRejected', 'Runtime'],
    ['a command that fails', 'CommandFailed', 'Runtime'],
    ['too little memory', 'OOMKilled', 'Runtime'],
    ['a code that nobody knows', 'SomethingNew', 'Runtime'],
    ['no code', '', 'Runtime'],
    ['[N-138] a check that failed', 'NotReady', 'Precondition'],
    ['[N-138] an Environment that is gone', 'EnvironmentMissing', 'Precondition'],
    ['[N-138] a ServiceAccount that is gone', 'ServiceAccountMissing', 'Precondition'],
    ['a name that is wrong', 'NameMismatch', 'Request'],
    ['[N-175] a firing that was closed', 'Interrupted', 'Interrupted'],
    ['a firing whose Session was deleted', 'SessionDeleted', 'Interrupted'],
  ])('%s: %s is %s', (_, reason, expected) => {
    expect(failureClass(reason)).toBe(expected)
    expect(failureClass(camelCase(reason))).toBe(expected)
    expect(countsToPause(reason)).toBe(['Runtime', 'Transient', 'Connection'].includes(expected))
  })
})
