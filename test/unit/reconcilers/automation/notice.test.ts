import { describe, expect, it } from 'vitest'
import type { PauseNotice } from '../../../../src/api/notices.ts'
import { pauseNotice } from '../../../../src/api/notices.ts'
import type { Pause } from '../../../../src/api/pause.ts'
import { tell } from '../../../../src/reconcilers/automation/notice.ts'
import type { NoticeState } from '../../../../src/runtime/notices.ts'
import { anAutomation } from '../../../kit/builders.ts'

const pause: Pause = {
  reason: 'CommandFailed',
  message: 'It went wrong.',
  class: 'Runtime',
  since: '2026-11-30T12:00:00.000Z',
  streak: 3,
  firing: 'nightly-3',
}
const recorded = anAutomation({ status: { pause } })

function outside(state: NoticeState) {
  const offered: PauseNotice[] = []
  const offer = (notice: PauseNotice) => {
    offered.push(notice)
    return state
  }
  return { offered, offer }
}

describe('telling of a pause', () => {
  it('[N-147] waits until the pause is on record', () => {
    const notices = outside('Sent')
    expect(tell(anAutomation(), pause, notices)).toEqual({ pause, after: 2000 })
    expect(notices.offered).toEqual([])
  })

  it('[N-147] writes down what became of it, and then is done', () => {
    const notices = outside('Sent')
    const told = tell(recorded, pause, notices)
    expect(told).toEqual({ pause: { ...pause, notice: 'Sent' }, after: undefined })
    expect(notices.offered).toHaveLength(1)
    expect(pauseNotice.parse(notices.offered[0])).toMatchObject({ id: 'uid-of-triage/2026-11-30T12:00:00.000Z' })
    expect(tell(recorded, told.pause, notices)).toEqual(told)
    expect(notices.offered).toHaveLength(1)
  })

  it('asks again while nothing is known, under the same id', () => {
    const notices = outside('Waiting')
    expect(tell(recorded, pause, notices)).toEqual({ pause, after: 2000 })
    tell(recorded, { ...pause, streak: 4, firing: 'nightly-4' }, notices)
    expect(new Set(notices.offered.map(({ id }) => id)).size).toBe(1)
  })

  it('tells nobody where there is nobody', () => {
    expect(tell(recorded, pause, undefined)).toEqual({ pause, after: undefined })
    expect(tell(recorded, undefined, outside('Sent'))).toEqual({ pause: undefined, after: undefined })
  })
})
