import { describe, expect, it } from 'vitest'
import { automationHash } from '../../../src/reconcilers/automation/automation-hash.ts'
import { Metrics } from '../../../src/runtime/metrics.ts'

describe('pauses in the metrics', () => {
  it('[N-163] an Automation is the first 12 hexadecimal digits of a digest', () => {
    expect(automationHash({ namespace: 'default', name: 'triage' })).toMatch(/^[0-9a-f]{12}$/)
    expect(automationHash({ namespace: 'other', name: 'triage' })).not.toBe(
      automationHash({ namespace: 'default', name: 'triage' }),
    )
  })

  it('[N-161] [N-162] [N-164] counts them with what paused and what resumed, and without a name', async () => {
    const metrics = new Metrics()
    const automation_hash = automationHash({ namespace: 'default', name: 'triage' })
    const cause = { error_code: 'pod_lost', failure_kind: 'transient', consecutive_failures: '3', surface: 'schedule' }
    metrics.count({ metric: 'automationPaused', labels: { automation_hash, ...cause } })
    metrics.count({ metric: 'automationResumed', labels: { automation_hash, via: 'probe' } })
    const text = await metrics.registry.metrics()
    expect(text).toContain(
      `graphwright_automation_paused_total{automation_hash="${automation_hash}",error_code="pod_lost",failure_kind="transient",consecutive_failures="3",surface="schedule"} 1`,
    )
    expect(text).toContain(`graphwright_automation_resumed_total{automation_hash="${automation_hash}",via="probe"} 1`)
    expect(text).not.toContain('triage')
  })
})

it('a process that starts its manager anew shows the silence of the new one', async () => {
  const metrics = new Metrics()
  metrics.watchSilences(() => new Map([['Agent', 1000]]))
  metrics.watchSilences(
    () =>
      new Map([
        ['Agent', 2500],
        ['Run', Number.POSITIVE_INFINITY],
      ]),
  )
  const text = await metrics.registry.metrics()
  expect(text).toContain('graphwright_watch_silence_seconds{kind="Agent"} 2.5')
  expect(text).not.toContain('kind="Run"')
})

it('what is not known is not shown, as a zero either', async () => {
  const metrics = new Metrics()
  let known: number | undefined = 3
  metrics.watch('some_offset', 'Some offset.', [], () => (known === undefined ? [] : [{ value: known }]))
  expect(await metrics.registry.metrics()).toMatch(/^some_offset 3$/m)
  known = undefined
  expect(await metrics.registry.metrics()).not.toMatch(/^some_offset /m)
})
