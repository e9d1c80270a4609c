import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync, truncateSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ContentFiles, contentLimitBytes } from '../../../src/gateway/contents.ts'
import { digestBytes } from '../../../src/lib/digest.ts'
import { temporaryFolder } from '../../kit/temporary-folder.ts'

const text = (value: string) => Buffer.from(value)
const fileOf = (folder: string, digest: string) => join(folder, 'sha256', digest.slice('sha256:'.length))

describe('content files', () => {
  it('give back what was put, after a restart too', async () => {
    const folder = temporaryFolder()
    const bytes = text('ä result')
    await (await ContentFiles.open(folder)).put(digestBytes(bytes), bytes)
    const reopened = await ContentFiles.open(folder)
    expect(Buffer.from(await reopened.get(digestBytes(bytes))).toString()).toBe('ä result')
  })

  it('say that a content is missing', async () => {
    const store = await ContentFiles.open(temporaryFolder())
    const error = await store.get(digestBytes('never put')).catch((e: unknown) => e)
    expect(error).toMatchObject({ type: 'content.missing', status: 404 })
  })

  it('refuse bytes that have another digest, and keep nothing of them', async () => {
    const folder = temporaryFolder()
    const store = await ContentFiles.open(folder)
    const error = await store.put(digestBytes('one'), text('two')).catch((e: unknown) => e)
    expect(error).toMatchObject({ type: 'validation.conflict', code: 'digest_mismatch' })
    expect(readdirSync(join(folder, 'sha256'))).toEqual([])
  })

  it('refuse what is no digest, so that no path can be smuggled in', async () => {
    const store = await ContentFiles.open(temporaryFolder())
    const error = await store.get('sha256:../../etc/passwd').catch((e: unknown) => e)
    expect(error).toMatchObject({ type: 'validation.invalid' })
  })

  it('refuse what is too large', async () => {
    const store = await ContentFiles.open(temporaryFolder())
    const bytes = Buffer.alloc(contentLimitBytes + 1)
    const error = await store.put(digestBytes(bytes), bytes).catch((e: unknown) => e)
    expect(error).toMatchObject({ type: 'validation.payload_too_large', status: 413 })
  })

  it('never pass off damaged bytes as the content, and let it be put again', async () => {
    const folder = temporaryFolder()
    const store = await ContentFiles.open(folder)
    const bytes = text('x'.repeat(10_000))
    const digest = digestBytes(bytes)
    await store.put(digest, bytes)
    truncateSync(fileOf(folder, digest), 4096)
    expect(await store.get(digest).catch((e: unknown) => e)).toMatchObject({ type: 'content.corrupt', status: 500 })
    await store.put(digest, bytes)
    expect(await store.get(digest)).toEqual(bytes)
  })

  it('keep one content when it is put by many at the same time', async () => {
    const folder = temporaryFolder()
    const store = await ContentFiles.open(folder)
    const bytes = Buffer.alloc(200_000, 'y')
    await Promise.all(Array.from({ length: 20 }, () => store.put(digestBytes(bytes), bytes)))
    expect(readdirSync(join(folder, 'sha256'))).toHaveLength(1)
    expect(readdirSync(join(folder, 'tmp'))).toEqual([])
    expect(await store.get(digestBytes(bytes))).toEqual(bytes)
  })

  it('remove what an interrupted put left, but not that of a put under way elsewhere', async () => {
    const folder = temporaryFolder()
    await ContentFiles.open(folder)
    const old = join(folder, 'tmp', 'old')
    writeFileSync(old, 'half')
    writeFileSync(join(folder, 'tmp', 'fresh'), 'half')
    utimesSync(old, new Date('2020-01-01'), new Date('2020-01-01'))
    await ContentFiles.open(folder)
    expect(readdirSync(join(folder, 'tmp'))).toEqual(['fresh'])
  })

  it('hold whole contents only when the process is killed while it writes', async () => {
    const folder = temporaryFolder()
    const child = spawn(process.execPath, ['--input-type=module', '-e', endlessPuts(folder)], { stdio: 'pipe' })
    await once(child.stdout, 'data')
    child.kill('SIGKILL')
    await once(child, 'exit')
    const names = readdirSync(join(folder, 'sha256'))
    expect(names.length).toBeGreaterThan(0)
    for (const name of names) {
      const bytes = readFileSync(join(folder, 'sha256', name))
      expect(digestBytes(bytes)).toBe(`sha256:${name}`)
    }
    const store = await ContentFiles.open(folder)
    await store.put(digestBytes('after'), text('after'))
    expect(Buffer.from(await store.get(digestBytes('after'))).toString()).toBe('after')
  })
})

/** A program that puts contents of 4 MiB for ever and says so after the third. */
function endlessPuts(folder: string): string {
  const source = (path: string) => JSON.stringify(new URL(`../../../src/${path}`, import.meta.url).href)
  return `
    import { ContentFiles } from ${source('gateway/contents.ts')}
    import { digestBytes } from ${source('lib/digest.ts')}
    const store = await ContentFiles.open(${JSON.stringify(folder)})
    for (let i = 0; ; i++) {
      const bytes = Buffer.alloc(4 * 1024 * 1024, String(i))
      await store.put(digestBytes(bytes), bytes)
      if (i === 2) console.log('three')
    }`
}
