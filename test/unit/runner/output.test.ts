import { execFileSync } from 'node:child_process'
import { appendFileSync, chmodSync, linkSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { outputLimitBytes } from '../../../src/api/run-api.ts'
import { readOutput } from '../../../src/runner/output.ts'
import { temporaryFolder } from '../../kit/temporary-folder.ts'

function resultFile(): string {
  return join(temporaryFolder(), 'result')
}

describe('the output of a main container', () => {
  it('is the text of the file, byte order mark included', () => {
    const file = resultFile()
    writeFileSync(file, '\uFEFFgrüße\n')
    expect(readOutput(file)).toEqual({ output: '\uFEFFgrüße\n' })
  })

  it('is empty where there is no file, or an empty one', () => {
    const file = resultFile()
    expect(readOutput(file)).toEqual({ output: '' })
    writeFileSync(file, '')
    expect(readOutput(file)).toEqual({ output: '' })
  })

  it('is never read through a link, whatever it points at', () => {
    const folder = temporaryFolder()
    const file = join(folder, 'result')
    writeFileSync(join(folder, 'token'), 'secret')
    symlinkSync(join(folder, 'token'), file)
    expect(readOutput(file)).toEqual({ error: 'output_not_a_file' })
    const dangling = join(folder, 'dangling')
    symlinkSync(join(folder, 'nothing'), dangling)
    expect(readOutput(dangling)).toEqual({ error: 'output_not_a_file' })
  })

  it('is not waited for on a pipe that nobody writes to', () => {
    const file = resultFile()
    execFileSync('mkfifo', [file])
    expect(readOutput(file)).toEqual({ error: 'output_not_a_file' })
  })

  it('is no folder and no socket', async () => {
    const folder = resultFile()
    mkdirSync(folder)
    expect(readOutput(folder)).toEqual({ error: 'output_not_a_file' })
    const socket = resultFile()
    const server = createServer().listen(socket)
    await new Promise((resolve) => server.once('listening', resolve))
    expect(readOutput(socket)).toEqual({ error: 'output_not_a_file' })
    server.close()
  })

  it('may have 1 MiB and not one byte more', () => {
    const file = resultFile()
    writeFileSync(file, 'x'.repeat(outputLimitBytes))
    expect(readOutput(file)).toEqual({ output: 'x'.repeat(outputLimitBytes) })
    appendFileSync(file, 'x')
    expect(readOutput(file)).toEqual({ error: 'output_too_large' })
  })

  it('is UTF-8 or an error, never a text with replacement characters', () => {
    const file = resultFile()
    writeFileSync(file, Buffer.from([0x61, 0xc3]))
    expect(readOutput(file)).toEqual({ error: 'output_not_utf8' })
  })

  it('may be a second name of a file in the same folder', () => {
    const folder = temporaryFolder()
    writeFileSync(join(folder, 'draft'), 'text')
    linkSync(join(folder, 'draft'), join(folder, 'result'))
    expect(readOutput(join(folder, 'result'))).toEqual({ output: 'text' })
  })

  it('says so when it may not be read', () => {
    const folder = temporaryFolder()
    const file = join(folder, 'result')
    writeFileSync(file, 'x')
    chmodSync(folder, 0o755)
    chmodSync(file, 0o000)
    expect(readAsOrdinaryUser(file)).toEqual({ error: 'output_unreadable' })
  })
})

/** Root may read everything, so this reads in a process of another user. */
function readAsOrdinaryUser(file: string): unknown {
  const module = new URL('../../../src/runner/output.ts', import.meta.url).href
  const program = `import(${JSON.stringify(module)}).then((m) => console.log(JSON.stringify(m.readOutput(process.argv[1]))))`
  const user = process.getuid?.() === 0 ? { uid: 65532, gid: 65532 } : {}
  return JSON.parse(execFileSync(process.execPath, ['-e', program, file], { encoding: 'utf8', ...user }))
}
