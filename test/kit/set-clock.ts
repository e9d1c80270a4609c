import { type Clock, systemClock } from '../../src/runtime/clock.ts'

/**
 * The clock of a machine that somebody sets: from each instant on (Unix milliseconds of the machine as it is) its wall
 * time is ahead by so many milliseconds. The monotonic clock knows nothing of it, as on any machine.
 */
export function setClock(settings: readonly (readonly [from: number, ahead: number])[]): Clock {
  const aheadAt = (instant: number) => settings.findLast(([from]) => from <= instant)?.[1] ?? 0
  return { ...systemClock, now: () => new Date(Date.now() + aheadAt(Date.now())) }
}
