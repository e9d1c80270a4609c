import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { RenderedTooLarge, referencesOf, render, renderedLimitBytes } from '../../../src/lib/template.ts'

const event = {
  title: 'Disk full',
  count: 3,
  open: false,
  nothing: null,
  items: [{ id: 'a', title: 'first' }, { id: 'b' }],
  'pull-request': { number: 7 },
}

describe('templates', () => {
  it.each([
    ['Title: {{event.title}}', 'Title: Disk full'],
    ['{{event.count}} {{event.open}} {{event.nothing}}', '3 false null'],
    ['{{event.items[1]}}', '{"id":"b"}'],
    ['{{event.items[0].title}}', 'first'],
    ['{{event.items[0].id}}{{event.items[1].id}}', 'ab'],
    ['#{{ event.pull-request.number }}', '#7'],
    ['{{event}}', JSON.stringify(event)],
    ['no reference', 'no reference'],
    [
      '{{other}} {{event.}} {{eventually}} {{event.a b}} {event}',
      '{{other}} {{event.}} {{eventually}} {{event.a b}} {event}',
    ],
  ])('[A-389] renders %j', (template, text) => {
    expect(render(template, event)).toEqual({ text, missing: [] })
  })

  it('[A-389] what the event lacks renders empty and is reported once', () => {
    const template = '<{{event.items[5].id}}{{event.title.x}}{{event.items.length}}{{event.title.x}}>'
    expect(render(template, event)).toEqual({
      text: '<>',
      missing: ['event.items[5].id', 'event.title.x', 'event.items.length'],
    })
    expect(render('{{event}}!', undefined)).toEqual({ text: '!', missing: ['event'] })
  })

  it('what the event says is not rendered again', () => {
    expect(render('{{event.a}}', { a: '{{event.b}}', b: 'x' }).text).toBe('{{event.b}}')
  })

  it('[A-391] appends the event after a blank line where the template references none of it', () => {
    const includeEvent = true
    expect(render('Do it.', { a: 1 }, { includeEvent }).text).toBe('Do it.\n\n{"a":1}')
    expect(render('', { a: 1 }, { includeEvent }).text).toBe('{"a":1}')
    expect(render('{{event.a}}', { a: 1 }, { includeEvent }).text).toBe('1')
    expect(render('{{event.b}}', { a: 1 }, { includeEvent }).text).toBe('')
    expect(render('Do it.', { a: 1 }).text).toBe('Do it.')
    expect(render('Do it.', undefined, { includeEvent })).toEqual({ text: 'Do it.', missing: ['event'] })
  })

  it('[A-571] an appended event is what an appended {{event}} renders', () => {
    fc.assert(
      fc.property(fc.string(), fc.jsonValue(), (template, any) => {
        fc.pre(referencesOf(template).length === 0 && template !== '')
        expect(render(template, any as never, { includeEvent: true })).toEqual(
          render(`${template}\n\n{{event}}`, any as never),
        )
      }),
    )
  })

  it('[A-390] refuses more than 64 KiB of UTF-8, without building it', () => {
    expect(render('é'.repeat(renderedLimitBytes / 2), undefined).text).toHaveLength(renderedLimitBytes / 2)
    expect(() => render(`${'é'.repeat(renderedLimitBytes / 2)}.`, undefined)).toThrow(RenderedTooLarge)
    const large = { text: 'x'.repeat(200_000) }
    expect(() => render('{{event}}'.repeat(7000), large)).toThrow(RenderedTooLarge)
  })

  it('lists its references', () => {
    expect(referencesOf('{{event}} {{ event.a.b[2][0].c }} {{x}}')).toEqual([
      { text: 'event', path: [] },
      { text: 'event.a.b[2][0].c', path: ['a', 'b', '2', '0', 'c'] },
    ])
  })

  it('is fast on anything', () => {
    const start = performance.now()
    referencesOf(`{{ event${'.a'.repeat(30_000)}`)
    referencesOf('{{'.repeat(30_000))
    referencesOf(`{{${' '.repeat(60_000)}`)
    expect(performance.now() - start).toBeLessThan(1000)
  })
})
