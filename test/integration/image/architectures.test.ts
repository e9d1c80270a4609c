import { execFile, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { version } from '../../../src/lib/version.ts'

const run = promisify(execFile)
const root = new URL('../../../', import.meta.url).pathname

/** The architecture that this machine is not, its emulator, and what its programs say they are (ELF, `e_machine`). */
const other =
  process.arch === 'arm64'
    ? { arch: 'amd64', emulator: 'qemu-x86_64', machine: 62 }
    : { arch: 'arm64', emulator: 'qemu-aarch64', machine: 183 }

interface DockerImage {
  readonly Config: string
  readonly RepoTags: readonly string[]
  readonly Layers: readonly string[]
}

let image: DockerImage
let config: { architecture: string; config: { User: string; Entrypoint: string[] } }
let files: string
const folder = mkdtempSync(join(tmpdir(), 'graphwright-image-'))

afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Builds the image in folders of the test: others may be reading dist/. */
beforeAll(async () => {
  const env = { ...process.env, ARCH: other.arch, DIST: join(folder, 'dist'), OUTPUT: folder }
  await run(process.execPath, ['build.ts', env.DIST], { cwd: root })
  await run('hack/image.sh', [], { cwd: root, env })
  const unpacked = join(folder, 'unpacked')
  files = join(folder, 'files')
  for (const each of [unpacked, files]) mkdirSync(each)
  await run('tar', ['-xf', join(folder, `graphwright-${other.arch}.tar`), '-C', unpacked])
  const images = JSON.parse(readFileSync(join(unpacked, 'manifest.json'), 'utf8')) as DockerImage[]
  expect(images).toHaveLength(1)
  image = images[0] as DockerImage
  config = JSON.parse(readFileSync(join(unpacked, image.Config), 'utf8'))
  for (const layer of image.Layers) await run('tar', ['-xf', join(unpacked, layer), '-C', files])
}, 300_000)

/** Every file below a part of the image that is a program or a library, with the machine that it is for. */
function machines(part: string): [string, number][] {
  const names = readdirSync(join(files, part), { recursive: true, withFileTypes: true })
  return names
    .filter((entry) => entry.isFile())
    .map((entry): [string, Buffer] => [entry.name, readFileSync(join(entry.parentPath, entry.name))])
    .filter(([, bytes]) => bytes.subarray(1, 4).toString() === 'ELF')
    .map(([name, bytes]) => [name, bytes.readUInt16LE(18)])
}

describe(`the image for ${other.arch}, built on ${process.arch} without Docker`, () => {
  it('says what it is for, by a tag of its own', () => {
    expect(image.RepoTags).toEqual([`localhost/graphwright:dev-${other.arch}`])
    expect(config).toMatchObject({ architecture: other.arch, config: { User: '65532:65532' } })
  })

  it('has programs and libraries for nothing else', () => {
    const all = [...machines('usr'), ...machines('lib')]
    expect(all.map(([name]) => name)).toEqual(expect.arrayContaining(['node', 'libc.so.6', 'libstdc++.so.6']))
    expect(all.filter(([, machine]) => machine !== other.machine)).toEqual([])
  })

  it('starts the operator', (context) => {
    if (spawnSync(other.emulator, ['--version']).error !== undefined) {
      context.skip(`${other.emulator} is not installed (Debian: qemu-user)`)
    }
    const [node = '', program = ''] = config.config.Entrypoint
    const args = ['-L', files, join(files, node), join(files, program), 'version']
    const { stdout, stderr } = spawnSync(other.emulator, args, { encoding: 'utf8', timeout: 50_000 })
    expect(stdout + stderr).toContain(`graphwright ${version}`)
  })
})
