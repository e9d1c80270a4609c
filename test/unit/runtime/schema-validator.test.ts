import { execFile, spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { promisify } from 'node:util'
import { build } from 'esbuild'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { type SchemaValidatorOptions, WorkerSchemaValidator } from '../../../src/runtime/schema-validator.ts'
import { temporaryFolder } from '../../kit/temporary-folder.ts'

const verdict = {
  type: 'object',
  properties: { escalate: { type: 'boolean' } },
  required: ['escalate'],
  additionalProperties: false,
}

/** Takes V8 very long: every element is compared with every other. */
const slow = { schema: { uniqueItems: true }, text: JSON.stringify(Array.from({ length: 20_000 }, (_, n) => ({ n }))) }

const open: WorkerSchemaValidator[] = []
function validator(options?: SchemaValidatorOptions): WorkerSchemaValidator {
  const made = new WorkerSchemaValidator(options)
  open.push(made)
  return made
}
afterEach(async () => {
  for (const made of open.splice(0)) await made.close()
})

describe('schema validator', () => {
  const shared = new WorkerSchemaValidator()
  afterAll(() => shared.close())

  it.each([
    ['{ "escalate": true }', { kind: 'valid', text: '{"escalate":true}' }],
    ['{}', { reason: 'output_schema_mismatch', message: "the value must have required property 'escalate'" }],
    ['Sure! {"escalate":true}', { reason: 'output_invalid_json' }],
    [
      '{"escalate":true,"escalate":false}',
      { reason: 'output_invalid_json', message: 'key at /escalate stands there twice' },
    ],
  ])('[A-379] [A-380] [A-381] %s', async (text, expected) => {
    expect(await shared.validate(text, verdict)).toMatchObject(expected)
  })

  it('refuses a schema that cannot be used', async () => {
    expect(await shared.validate('1', { type: 'nummer' })).toMatchObject({ reason: 'schema_invalid' })
    expect(await shared.validate('"b"', { pattern: '(?=a)b' })).toMatchObject({ reason: 'schema_unsupported' })
  })

  it('answers everybody, each with the own verdict', async () => {
    const texts = Array.from({ length: 50 }, (_, n) => String(n))
    const answers = await Promise.all(texts.map((text) => shared.validate(text, { type: 'integer', maximum: 24 })))
    expect(answers.map(({ kind }) => kind)).toEqual(texts.map((_, n) => (n <= 24 ? 'valid' : 'invalid')))
  })

  it('ends a check that takes too long, and goes on with the next', async () => {
    const checks = validator({ timeoutMillis: 2000 })
    const [long, next] = await Promise.all([
      checks.validate(slow.text, slow.schema),
      checks.validate('1', { const: 1 }),
    ])
    expect(long).toMatchObject({ kind: 'invalid', reason: 'schema_timeout' })
    expect(next).toEqual({ kind: 'valid', text: '1' })
  })

  it('counts the time a check computes, and not how long a busy machine lets it wait', async () => {
    const program = `
      import { WorkerSchemaValidator } from '${process.cwd()}/src/runtime/schema-validator.ts'
      const checks = new WorkerSchemaValidator({ timeoutMillis: 1000 })
      await checks.validate('1', {})
      const text = JSON.stringify(Array.from({ length: 1500 }, (_, n) => ({ n })))
      console.log('begun')
      const { kind, reason } = await checks.validate(text, { uniqueItems: true })
      console.log(reason ?? kind)
      await checks.close()`
    const child = spawn(process.execPath, ['--input-type=module', '--eval', program])
    let output = ''
    for await (const chunk of child.stdout) {
      output += chunk
      if (output !== 'begun\n') continue
      // It gets no time of the processor at all, and its timers are overdue when it goes on.
      child.kill('SIGSTOP')
      await setTimeout(1500)
      child.kill('SIGCONT')
    }
    expect(output).toBe('begun\nvalid\n')
  }, 30_000)

  it('ends a check that takes too much memory, and goes on with the next', async () => {
    const checks = validator({ memoryMegabytes: 16, timeoutMillis: 30_000 })
    const large = `[${'[{"a":"b"}],'.repeat(80_000)}1]`
    expect(await checks.validate(large, {})).toMatchObject({ kind: 'invalid', reason: 'schema_memory_exceeded' })
    expect(await checks.validate('1', { const: 1 })).toEqual({ kind: 'valid', text: '1' })
  }, 60_000)

  it('tells whoever waits when it is closed', async () => {
    const checks = validator()
    const answer = expect(checks.validate(slow.text, slow.schema)).rejects.toThrow('closed')
    await checks.close()
    await answer
    await expect(checks.validate('1', {})).rejects.toThrow('closed')
  })

  it('works from bundles, side by side', async () => {
    const folder = temporaryFolder()
    const entry = join(folder, 'main.ts')
    const source = join(process.cwd(), 'src/runtime')
    writeFileSync(
      entry,
      `import { WorkerSchemaValidator } from '${source}/schema-validator.ts'
       const checks = new WorkerSchemaValidator()
       void checks.validate('{"a":1}', { type: 'object' }).then((answer) => { console.log(JSON.stringify(answer)); return checks.close() })`,
    )
    await build({
      entryPoints: { main: entry, 'schema-worker': join(source, 'schema-worker.ts') },
      outdir: folder,
      outExtension: { '.js': '.cjs' },
      bundle: true,
      platform: 'node',
      format: 'cjs',
      logLevel: 'error',
    })
    const { stdout } = await promisify(execFile)(process.execPath, [join(folder, 'main.cjs')])
    expect(JSON.parse(stdout)).toEqual({ kind: 'valid', text: '{"a":1}' })
  })
})
