import { EventEmitter } from 'node:events'
import { expect, test } from 'vitest'
import { silentLogger } from '../../../src/runtime/log.ts'
import { Shutdown } from '../../../src/runtime/shutdown.ts'
import { eventually } from '../../kit/eventually.ts'
import { FakeClock } from '../../kit/fake-clock.ts'

function setUp() {
  const source = new EventEmitter()
  const clock = new FakeClock()
  const exits: number[] = []
  const done: string[] = []
  const shutdown = new Shutdown({
    log: silentLogger,
    clock,
    exit: (code) => exits.push(code),
    process: source as unknown as NodeJS.Process,
    deadlineMillis: 1000,
  })
  return { source, clock, exits, done, shutdown }
}

test('a signal runs the steps in order, one failing or not, and ends the process with 0', async () => {
  const { source, exits, done, shutdown } = setUp()
  shutdown.add('queue', async () => {
    await new Promise((resolve) => setImmediate(resolve))
    done.push('queue')
  })
  shutdown.add('lease', () => Promise.reject(new Error('gone')))
  shutdown.add('server', async () => {
    done.push('server')
  })
  source.emit('SIGTERM')
  await eventually(() => exits.length === 1)
  expect(done).toEqual(['queue', 'server'])
  expect(exits).toEqual([0])
})

test('steps that take too long are left behind', async () => {
  const { clock, exits, shutdown } = setUp()
  shutdown.add('never ends', () => new Promise(() => {}))
  const stopping = shutdown.stop('test', 3)
  await clock.advance(999)
  expect(exits).toEqual([])
  await clock.advance(1)
  await stopping
  expect(exits).toEqual([3])
})

test('a second signal ends the process at once', () => {
  const { source, exits, shutdown } = setUp()
  shutdown.add('never ends', () => new Promise(() => {}))
  source.emit('SIGINT')
  expect(exits).toEqual([])
  source.emit('SIGINT')
  expect(exits).toEqual([1])
})

test.each(['uncaughtException', 'unhandledRejection'])('an %s ends the process with 1', (event) => {
  const { source, exits } = setUp()
  source.emit(event, new Error('nobody handled this'))
  expect(exits).toEqual([1])
})
