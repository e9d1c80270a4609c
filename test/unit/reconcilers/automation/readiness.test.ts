import { describe, expect, it } from 'vitest'
import { type AutomationSpec, automationStatus } from '../../../../src/api/automation.ts'
import type { KubeObject } from '../../../../src/lib/object.ts'
import { readinessOf } from '../../../../src/reconcilers/automation/readiness.ts'
import { anAutomation, anEnvironment, aProgram } from '../../../kit/builders.ts'
import { reconcileContext } from '../../../kit/reconcile-context.ts'

function readiness(spec: Partial<AutomationSpec>, cached: KubeObject[] = []) {
  const subject = { namespace: 'default', graphManaged: true, spec: anAutomation({ spec }).spec }
  return readinessOf(subject, reconcileContext({ cached }).read)
}

describe('the readiness of an Automation', () => {
  it('fits into the status, however many pins are gone', () => {
    const pins = Array.from({ length: 100 }, (_, n) => ({
      agent: `agent-${n}`,
      version: `agent-${n}-v1`,
      digest: `sha256:${'0'.repeat(64)}`,
      uid: `uid-${n}`,
    }))
    const program = aProgram({ spec: { pins } })
    const target = { program: { name: program.metadata.name, digest: program.spec.digest } }
    const entries = readiness({ target }, [program, anEnvironment()])
    expect(entries.length).toBeGreaterThan(10)
    expect(automationStatus.safeParse({ readiness: entries }).error).toBeUndefined()
  })
})
