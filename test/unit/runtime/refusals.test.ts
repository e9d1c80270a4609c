import { expect, test } from 'vitest'
import { KubeError } from '../../../src/kube/error.ts'
import { refusalOf } from '../../../src/runtime/refusals.ts'
import { Terminal, Wait } from '../../../src/runtime/result.ts'
import { aJob } from '../../kit/pods.ts'

const meant = aJob()

test('a full quota is waited for', () => {
  const message =
    'jobs.batch "triage-x" is forbidden: exceeded quota: team, requested: count/jobs.batch=1, used: 3, limited: 3'
  const refusal = refusalOf(new KubeError({ status: 403, reason: 'Forbidden', message }), meant)
  expect(refusal).toBeInstanceOf(Wait)
  expect(refusal).toMatchObject({ reason: 'QuotaExceeded', message: expect.stringContaining('ResourceQuota team') })
})

test('a broken rule is final, and named without the generated name of the object', () => {
  const causes = [
    {
      reason: 'FieldValueNotSupported',
      field: 'spec.template.spec.tolerations[0].operator',
      message: 'Unsupported value',
    },
  ]
  const message = `Job.batch "${meant.metadata.name}" is invalid: …`
  const refusal = refusalOf(new KubeError({ status: 422, reason: 'Invalid', message, details: { causes } }), meant)
  expect(refusal).toBeInstanceOf(Terminal)
  expect(refusal).toMatchObject({
    reason: 'Invalid',
    message: 'The API server refuses the Job: spec.template.spec.tolerations[0].operator: Unsupported value',
  })
})

test('everything else stays what it was', () => {
  for (const status of [403, 409, 500]) {
    const error = new KubeError({ status, reason: 'Whatever', message: 'no' })
    expect(refusalOf(error, meant)).toBe(error)
  }
})
