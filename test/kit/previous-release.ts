import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { load } from 'js-yaml'
import type { CustomResourceDefinition } from '../../src/api/crd.ts'

/**
 * The state that upgrades are tested from, taken out of the history of this repository. Nothing was released before
 * 0.1.0, so that it is a state on the way there, the last one without cancelling, history and pauses. With each release
 * it becomes the commit of the one before.
 */
const commit = '3c2731fce0ecaaebd814bb9d766c5cd0a1f094e8'
const root = new URL('../../', import.meta.url).pathname

function git(...args: string[]): Buffer {
  return execFileSync('git', ['-C', root, ...args], { maxBuffer: 1 << 28, stdio: ['ignore', 'pipe', 'pipe'] })
}

/** Why there is no previous release to be had here; undefined where there is one. */
export function previousReleaseProblem(): string | undefined {
  try {
    git('cat-file', '-e', `${commit}^{commit}`)
    return undefined
  } catch {
    return `the history of this clone does not reach back to ${commit.slice(0, 7)}: git fetch --unshallow`
  }
}

/** The definitions of the previous release, by file name. */
export function previousCrds(): Map<string, CustomResourceDefinition> {
  const files = git('ls-tree', '--name-only', commit, 'crds/').toString().trim().split('\n')
  return new Map(
    files.map((file) => [
      file.replace('crds/', ''),
      load(git('show', `${commit}:${file}`).toString()) as CustomResourceDefinition,
    ]),
  )
}

/** A release as its sources, which Node runs as they are. */
export interface Release {
  /** Folder of its definitions. */
  readonly crds: URL
  /** What starts its manager and its gateway under tests. */
  readonly manager: string
  readonly gateway: string
}

export const thisRelease: Release = releaseIn(root)

export interface UnpackedRelease {
  readonly release: Release
  /** Where its checkout lies; ends with a slash. */
  readonly folder: string
  remove(): void
}

/** Unpacks the previous release, with the packages of this one. */
export function unpackPreviousRelease(): UnpackedRelease {
  const folder = mkdtempSync(join(tmpdir(), 'graphwright-previous-'))
  const archive = git('archive', '--format=tar', commit)
  execFileSync('tar', ['-x', '-C', folder], { input: archive })
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  return {
    release: releaseIn(`${folder}/`),
    folder: `${folder}/`,
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}

function releaseIn(folder: string): Release {
  return {
    crds: new URL(`file://${folder}crds/`),
    manager: `${folder}test/kit/doomed-manager.ts`,
    gateway: `${folder}test/kit/tied-gateway.ts`,
  }
}
