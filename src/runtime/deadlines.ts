import type { ObjectKey } from '../lib/object.ts'
import type { Priority } from './priority.ts'

interface Entry {
  readonly key: ObjectKey
  readonly due: number
  /** What the key is woken as. */
  readonly priority: Priority
}

/**
 * One deadline per key, the earliest wins. A binary heap whose outdated entries are skipped when they come up: setting
 * and taking cost O(log n), whatever the number of schedules.
 */
export class Deadlines {
  readonly #due = new Map<ObjectKey, number>()
  readonly #heap: Entry[] = []

  /** Sets the deadline of `key`, unless it has an earlier one. */
  set(key: ObjectKey, due: number, priority: Priority = 'event'): void {
    const present = this.#due.get(key)
    if (present !== undefined && present <= due) return
    this.#due.set(key, due)
    this.#push({ key, due, priority })
  }

  delete(key: ObjectKey): void {
    this.#due.delete(key)
  }

  clear(): void {
    this.#due.clear()
    this.#heap.length = 0
  }

  has(key: ObjectKey): boolean {
    return this.#due.has(key)
  }

  get size(): number {
    return this.#due.size
  }

  /** The earliest deadline. */
  get next(): number | undefined {
    return this.#top()?.due
  }

  /** Takes the key with the earliest deadline, if that is not after `now`. */
  take(now: number): Pick<Entry, 'key' | 'priority'> | undefined {
    const top = this.#top()
    if (top === undefined || top.due > now) return undefined
    this.#pop()
    this.#due.delete(top.key)
    return top
  }

  /** The earliest entry that is still the deadline of its key; removes those before it that are not. */
  #top(): Entry | undefined {
    for (;;) {
      const top = this.#heap[0]
      if (top === undefined || this.#due.get(top.key) === top.due) return top
      this.#pop()
    }
  }

  #push(entry: Entry): void {
    const heap = this.#heap
    let index = heap.length
    while (index > 0) {
      const above = (index - 1) >> 1
      const parent = heap[above]
      if (parent === undefined || parent.due <= entry.due) break
      heap[index] = parent
      index = above
    }
    heap[index] = entry
  }

  #pop(): void {
    const heap = this.#heap
    const last = heap.pop()
    if (last === undefined || heap.length === 0) return
    let index = 0
    for (;;) {
      const child = this.#smallerChild(index)
      const entry = heap[child]
      if (entry === undefined || entry.due >= last.due) break
      heap[index] = entry
      index = child
    }
    heap[index] = last
  }

  #smallerChild(index: number): number {
    const left = this.#heap[2 * index + 1]
    const right = this.#heap[2 * index + 2]
    return left !== undefined && right !== undefined && right.due < left.due ? 2 * index + 2 : 2 * index + 1
  }
}
