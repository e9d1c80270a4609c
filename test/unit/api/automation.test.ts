import { describe, expect, it } from 'vitest'
import { automationSpec } from '../../../src/api/automation.ts'
import { automationFiringSpec, firingPhases, settledFiringPhases } from '../../../src/api/automation-firing.ts'
import { graphDocument } from '../../../src/api/graph-document.ts'
import { triggerProblems } from '../../../src/schedule/trigger-rules.ts'
import { anAutomation } from '../../kit/builders.ts'
import { changed, triageAndEscalate } from '../../kit/graph-documents.ts'

const { spec } = anAutomation()
const schedule = { id: 'weekday', kind: 'schedule' as const, cron: '0 9 * * 1-5', timezone: 'UTC' }
const date = { id: 'once', kind: 'schedule_once' as const, at: '2026-12-01T17:00:00.000Z' }
const byHand = { id: 'by-hand', kind: 'manual' as const }

describe('an Automation as it is written', () => {
  it('[A-161] [A-166] names its Environment: there is none by default', () => {
    const { environment: _, ...without } = spec
    expect(automationSpec.safeParse(without).success).toBe(false)
    expect(automationSpec.parse(spec).environment).toBe('default')
  })

  it('[A-198] [N-022] has triggers of the kinds that there are: neither a chat program nor an email is one', () => {
    for (const kind of ['slack', 'message', 'email', 'mail.message.received', 'Schedule']) {
      expect(automationSpec.safeParse({ ...spec, triggers: [{ id: 'x', kind }] }).success, kind).toBe(false)
    }
  })

  it.each([schedule, date, byHand])('[A-203] its trigger $kind is written as in a graph', (trigger) => {
    const { id, ...configuration } = trigger
    const document = changed(triageAndEscalate(), (one) => {
      const node = one.nodes.find(({ kind }) => kind === 'trigger')
      if (node !== undefined) Object.assign(node, { trigger: configuration })
    })
    const parsed = graphDocument.parse(document).nodes.find(({ kind }) => kind === 'trigger')
    expect(automationSpec.parse({ ...spec, triggers: [trigger] }).triggers).toEqual([{ id, ...parsed?.trigger }])
  })

  it('[N-012] by hand takes neither a schedule nor a time zone, an event or a condition', () => {
    expect(triggerProblems([byHand])).toEqual([])
    for (const field of [{ cron: '0 9 * * *' }, { timezone: 'UTC' }, { at: date.at }]) {
      const [name] = Object.keys(field)
      expect(triggerProblems([{ ...byHand, ...field }])).toEqual([
        `${name} does not belong to trigger by-hand of kind manual; remove it.`,
      ])
    }
    for (const field of [{ event: 'x' }, { condition: 'x' }]) {
      expect(automationSpec.safeParse({ ...spec, triggers: [{ ...byHand, ...field }] }).success).toBe(false)
    }
  })

  it('[A-228] may combine a schedule or date with a webhook, as soon as that is run: they are of different classes', () => {
    for (const timed of [schedule, date]) {
      expect(triggerProblems([timed, { id: 'hook', kind: 'webhook' }])).toEqual([
        'Trigger hook has the kind webhook, which this release does not run.',
      ])
      expect(triggerProblems([timed, byHand])).toEqual([])
    }
  })
})

describe('a firing as it is written', () => {
  it('[A-305] says what it was fired by, and there are three of these', () => {
    const firing = { automation: { name: 'triage' }, requestedBy: 'alice', event: { payload: 1 } }
    for (const trigger of ['schedule', 'event', 'manual']) {
      expect(automationFiringSpec.parse({ ...firing, trigger })).toMatchObject({ trigger, event: { payload: 1 } })
    }
    expect(automationFiringSpec.safeParse({ ...firing, trigger: 'cron' }).success).toBe(false)
  })

  it('[A-309] is pending, settled in some way, or skipped', () => {
    expect([...firingPhases].filter((phase) => !settledFiringPhases.includes(phase))).toEqual([
      'Pending',
      'Running',
      'Waiting',
    ])
    expect([...settledFiringPhases].sort()).toEqual(['Cancelled', 'Failed', 'Skipped', 'Succeeded'])
  })
})
