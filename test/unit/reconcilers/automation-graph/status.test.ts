import { describe, expect, it } from 'vitest'
import { automationGraphStatus } from '../../../../src/api/automation-graph.ts'
import { driftText } from '../../../../src/reconcilers/automation-graph/status.ts'
import { anAutomation, aPlan } from '../../../kit/builders.ts'

function drift(fields: readonly string[], automation = anAutomation()): string {
  const applied = aPlan()
  const plan = { name: applied.metadata.name, content: applied.spec.content, phase: 'Applied' }
  return driftText({ plan, applied, automation, drift: fields })
}

describe('the Drift column', () => {
  it('[A-036] names the fields, in no more than the status holds', () => {
    expect(drift([])).toBe('none')
    expect(drift(['target.agent.prompt', 'environment'])).toBe('target.agent.prompt, environment')
    const many = Array.from({ length: 60 }, (_, n) => `triggers[${'x'.repeat(40)}-${n}].cron`)
    expect(automationGraphStatus.safeParse({ drift: drift(many) }).error).toBeUndefined()
  })
})
