import type { Automation } from '../api/automation.ts'
import type { DeepReadonly } from '../lib/readonly.ts'
import { sentence } from '../lib/text.ts'
import { shownInUtc } from './instants.ts'

/** What keeps an Automation from starting anything, and what to do. */
export interface Hold {
  readonly answer: 'Paused' | 'NotReady'
  readonly summary: string
  readonly why: string
}

/** What keeps an Automation from starting anything now; undefined where nothing does. */
export function holdOf(automation: DeepReadonly<Automation>): Hold | undefined {
  const { spec, status } = automation
  if (spec.paused === true || status?.state === 'Paused') {
    const who = spec.paused === true ? 'is paused' : 'has paused itself'
    return { answer: 'Paused', summary: `not run: the Automation ${who}`, why: whyPaused(automation) }
  }
  const readiness = status?.readiness ?? []
  if (readiness.length === 0) return undefined
  const why = readiness.map(({ message }) => message).join(' ')
  return { answer: 'NotReady', summary: 'not run: the Automation is not ready', why }
}

/** What holds a paused Automation: somebody's will, or the failures by which it paused itself. */
function whyPaused({ metadata, spec, status }: DeepReadonly<Automation>): string {
  const resume = `graphwright resume ${metadata.name}`
  const pause = status?.pause
  if (pause === undefined) return `Somebody paused it. Resume it: ${resume}.`
  const { streak, reason, message, since, nextProbe } = pause
  const cause = `${streak} firings in a row failed until ${shownInUtc(new Date(since))}, the last with ${reason}: ${sentence(message)}`
  if (spec.paused === true)
    return `Somebody paused it, and it has paused itself as well: ${cause} Resume it: ${resume}.`
  if (nextProbe === undefined) return `${cause} Mend the cause, then: ${resume}.`
  const probe = `The first occurrence from ${shownInUtc(new Date(nextProbe))} on is tried; to try at once: ${resume}.`
  return `${cause} ${probe}`
}
