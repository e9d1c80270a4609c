import type { Automation } from '../../api/automation.ts'
import type { PauseNotice } from '../../api/notices.ts'
import type { Pause } from '../../api/pause.ts'
import type { DeepReadonly } from '../../lib/readonly.ts'
import { sentence, shorten } from '../../lib/text.ts'
import type { Notices } from '../../runtime/notices.ts'

type Seen = DeepReadonly<Automation>

/** What failed and what to do about it, in words. */
export function pauseNote(name: string, { reason, message, streak, nextProbe }: Pause): string {
  const mend = `Mend the cause, then graphwright resume ${name}, or fire it by hand: a success resumes it.`
  const tryAgain = `It tries again by itself, from time to time; graphwright resume ${name} to try at once.`
  const next = nextProbe === undefined ? mend : tryAgain
  return `${streak} firings in a row failed, the last with ${reason}: ${sentence(message)} ${next}`
}

/** How long to wait before asking again what became of a notice, milliseconds. */
const askAgainMillis = 2000

/**
 * Has a pause told outside, once it is on record, and writes down what became of that: until then it is told again, under
 * the same id. Without anybody to tell, the pause stays as it is.
 * @returns the pause, and the milliseconds until something more is known
 */
export function tell(automation: Seen, pause: Pause | undefined, notices: Notices | undefined) {
  if (pause === undefined || notices === undefined || pause.notice !== undefined) return { pause, after: undefined }
  if (automation.status?.pause?.since !== pause.since) return { pause, after: askAgainMillis }
  const state = notices.offer(noticeOf(automation, pause))
  return state === 'Waiting'
    ? { pause, after: askAgainMillis }
    : { pause: { ...pause, notice: state }, after: undefined }
}

function noticeOf({ metadata: { namespace = '', name, uid = '' } }: Seen, pause: Pause): PauseNotice {
  const { reason, message, streak, since, firing } = pause
  return {
    id: `${uid}/${since}`,
    type: 'automation.paused',
    text: shorten(`Automation ${namespace}/${name} has paused itself: ${pauseNote(name, pause)}`, 4096),
    automation: { namespace, name, uid },
    reason,
    class: pause.class,
    message,
    streak,
    since,
    firing,
  }
}
