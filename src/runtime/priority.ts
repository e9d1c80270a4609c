/** From what is served first to what is served last. */
export const priorities = ['timely', 'event', 'list'] as const

/**
 * What woke a key. `timely`: an instant that it was to be worked on at; see `TimelyWork`. `event`: something happened, or
 * it is time to look again. `list`: an initial list brought it.
 */
export type Priority = (typeof priorities)[number]

export function isHigher(priority: Priority, present: Priority | undefined): boolean {
  return present === undefined || priorities.indexOf(priority) < priorities.indexOf(present)
}
