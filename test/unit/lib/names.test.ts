import fc from 'fast-check'
import { expect, it } from 'vitest'
import { digestBytes } from '../../../src/lib/digest.ts'
import {
  agentVersionName,
  childName,
  cut,
  firingName,
  manualKey,
  planName,
  programName,
} from '../../../src/lib/names.ts'

const digest = digestBytes('a program')
/** Names as the API server takes them, among them such as end in a dash where they are cut. */
const objectNames = fc.stringMatching(/^[a-z0-9]([a-z0-9.-]{0,61}[a-z0-9])?$/)

const makers: Record<string, (name: string) => string> = {
  plan: (name) => planName(name, 99_999),
  program: (name) => programName(name, digest),
  firing: (name) => firingName({ name, uid: `uid of ${name}` }, 'schedule', 'key', '20261130t120000z'),
  'manual firing': (name) => firingName({ name, uid: `uid of ${name}` }, 'manual', manualKey('jane', 'key')),
  child: (name) => childName(`uid of ${name}`, name.replaceAll('.', '-'), 0, 0, 0),
}

it.each(Object.entries(makers))('the name of a %s is a name, however long what it is made of', (_kind, make) => {
  fc.assert(
    fc.property(objectNames, (name) => {
      expect(make(name)).toMatch(/^[a-z0-9]([a-z0-9.-]{0,61}[a-z0-9])?$/)
    }),
  )
})

it.each(Object.entries(makers))(
  'two %ss are never in each other’s way, however alike their owners begin',
  (_kind, make) => {
    fc.assert(
      fc.property(objectNames, objectNames, fc.integer({ min: 1, max: 60 }), (one, other, length) => {
        const alike = `${cut(one, length)}x${other}`.slice(0, 63).replace(/[-.]+$/, '')
        fc.pre(alike !== one)
        expect(make(alike)).not.toBe(make(one))
      }),
    )
    const beginning = 'triage-and-escalate-what-came-in-over-the-night-shift-of'
    expect(make(`${beginning}-berlin`)).not.toBe(make(`${beginning}-tokyo`))
  },
)

it('short names stay readable', () => {
  expect(planName('triage', 3)).toBe('triage-3')
  expect(agentVersionName('triager', 2)).toBe('triager-v2')
  expect(programName('triage', digest)).toMatch(/^triage-[a-z2-7]{26}$/)
})
