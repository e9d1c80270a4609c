import { describe, expect, it } from 'vitest'
import { problemOf } from '../../../hack/demo/event.ts'

describe('the event of the demo', () => {
  it.each([
    [null, 'an event is a JSON object'],
    [[], 'an event is a JSON object'],
    ['items', 'an event is a JSON object'],
    [{}, 'the list "items" is missing'],
    [{ items: {} }, '"items" must be a list'],
    [{ items: [null] }, 'items[0].id is missing, or is not a text'],
    [{ items: [{ id: 'a', title: 'b' }] }, 'items[0].severity is missing, or is not a text'],
    [{ items: [{ id: 'a', title: 'b', severity: 3 }] }, 'items[0].severity is missing, or is not a text'],
  ])('%j is refused: %s', (event, problem) => {
    expect(problemOf(event)).toBe(problem)
  })

  it('an empty list of items is an event', () => {
    expect(problemOf({ items: [] })).toBeUndefined()
  })
})
