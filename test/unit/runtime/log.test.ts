import { spawnSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { createLogger, type LoggerOptions } from '../../../src/runtime/log.ts'

function capture(options: LoggerOptions = {}) {
  const lines: Record<string, unknown>[] = []
  const log = createLogger({ ...options, write: (line) => lines.push(JSON.parse(line)) })
  return { log, lines }
}

test('a line is static text with its data in fields', () => {
  const { log, lines } = capture({ base: { process: 'manager' } })
  log.child({ controller: 'runs', reconcileId: 'r1' }).info({ name: 'x' }, 'job created')
  expect(lines).toEqual([
    {
      level: 'info',
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
      process: 'manager',
      controller: 'runs',
      reconcileId: 'r1',
      name: 'x',
      msg: 'job created',
    },
  ])
})

test('lines below the level are left out', () => {
  const { log, lines } = capture({ level: 'warn' })
  log.info({}, 'no')
  log.warn({}, 'yes')
  expect(lines.map(({ msg }) => msg)).toEqual(['yes'])
})

test('an error has its stack and its causes', () => {
  const { log, lines } = capture()
  log.error({ error: new Error('outer', { cause: new Error('inner') }) }, 'failed')
  expect(lines[0]?.error).toMatchObject({ message: 'outer', stack: expect.stringContaining('log.test.ts') })
  expect(JSON.stringify(lines[0])).toContain('inner')
})

test('secrets do not reach the log', () => {
  const { log, lines } = capture()
  log.info({ token: 's3cret', headers: { authorization: 'Bearer s3cret' }, object: { data: { a: 's3cret' } } }, 'sent')
  expect(JSON.stringify(lines)).not.toContain('s3cret')
  expect(lines[0]).toMatchObject({ token: '[redacted]', headers: { authorization: '[redacted]' } })
})

test('the lines before a crash are there', () => {
  const script = `
    import { createLogger } from './src/runtime/log.ts'
    const log = createLogger()
    for (let i = 0; i < 1000; i++) log.info({ i }, 'line')
    process.kill(process.pid, 'SIGKILL')
  `
  const { stdout, signal } = spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' })
  expect(signal).toBe('SIGKILL')
  expect(stdout.trim().split('\n')).toHaveLength(1000)
})
