import { describe, expect, it } from 'vitest'
import { renderPause, renderResume, resumePatch } from '../../../src/cli/pause.ts'
import { anAutomation } from '../../kit/builders.ts'

const now = new Date('2026-11-30T12:10:00Z')
const asked = { metadata: { annotations: { 'graphwright.dev/resume-requested': '2026-11-30T12:10:00.000Z' } } }

describe('resume', () => {
  it('unpauses so that the time of it stays on record, and asks to lift a pause of its own', () => {
    expect(resumePatch(anAutomation({ spec: { paused: true } }), now)).toEqual({ ...asked, spec: { paused: false } })
    expect(resumePatch(anAutomation({ status: { state: 'Paused' } }), now)).toEqual(asked)
  })

  it('changes nothing where nothing is paused', () => {
    expect(resumePatch(anAutomation({ status: { state: 'Active' } }), now)).toBeUndefined()
  })

  it.each(['Failed', 'Unknown'] as const)('[A-150] [A-151] refuses while a check is %s, and says which', (state) => {
    const readiness = [{ check: 'agent', state, message: 'There is no Agent x; create it.' }]
    const paused = anAutomation({ spec: { paused: true }, status: { state: 'Paused', readiness } })
    expect(() => resumePatch(paused, now)).toThrow(
      expect.objectContaining({
        code: 'not_ready',
        exitCode: 1,
        message: expect.stringContaining('There is no Agent x'),
      }),
    )
  })

  it('says what comes next', () => {
    const recurring = anAutomation({
      spec: { triggers: [{ id: 't', kind: 'schedule', cron: '@daily', timezone: 'UTC' }] },
    })
    expect(renderResume(recurring, true, 'graphwright')).toContain(
      'graphwright backfill triage --from TIME --to now --dry-run',
    )
    expect(renderResume(anAutomation(), true, 'graphwright')).not.toContain('backfill')
    expect(renderResume(anAutomation(), false, 'graphwright')).toContain('is not paused')
  })
})

describe('pause', () => {
  it('[A-170] says what goes on', () => {
    const busy = anAutomation({ status: { active: [{ name: 'a', uid: 'u' }] } })
    expect(renderPause(busy, true, 'graphwright')).toContain('1 firing is under way: its present steps go on')
    expect(renderPause(anAutomation(), false, 'graphwright')).toBe(
      'Automation triage is paused already.\nNext: graphwright resume triage',
    )
  })
})
