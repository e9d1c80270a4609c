import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

/** Instructions of the last stage of the Dockerfile, by name, in order. */
function lastStage(): [string, string][] {
  const lines = readFileSync('Dockerfile', 'utf8').split('\n')
  const last = lines.findLastIndex((line) => line.startsWith('FROM '))
  return lines
    .slice(last)
    .filter((line) => /^[A-Z]/.test(line))
    .map((line) => [line.split(' ')[0] ?? '', line.slice(line.indexOf(' ') + 1)])
}

function instruction(name: string): string[] {
  return lastStage().flatMap(([given, value]) => (given === name ? [value] : []))
}

interface Spec {
  readonly user: string
  readonly workingDir: string
  readonly env: readonly string[]
  readonly entrypoint: readonly string[]
  readonly layers: readonly { readonly entries: readonly { readonly path: string; readonly from?: string }[] }[]
}

it('the Dockerfile makes the image that is made without Docker', () => {
  const spec = JSON.parse(readFileSync('hack/images/graphwright.json', 'utf8')) as Spec
  expect(instruction('USER')).toEqual([spec.user])
  expect(instruction('WORKDIR')).toEqual([spec.workingDir])
  expect(JSON.parse(instruction('ENTRYPOINT')[0] ?? '')).toEqual(spec.entrypoint)
  // The rest of the environment is that of the base image.
  expect(spec.env.filter((each) => !each.startsWith('PATH='))).toEqual(instruction('ENV'))
  const programs = spec.layers.flatMap(({ entries }) => entries).filter(({ from }) => from === ['$', '{DIST}'].join(''))
  expect(instruction('COPY')).toEqual(programs.map(({ path }) => `--from=build /build/dist ${path}`))
})

it('both have the Node that the lock file has, of every architecture', () => {
  const { optionalDependencies } = JSON.parse(readFileSync('package.json', 'utf8')) as {
    optionalDependencies: Record<string, string>
  }
  const versions = new Set(['x64', 'arm64'].map((arch) => optionalDependencies[`node-linux-${arch}`]))
  const bases = readFileSync('Dockerfile', 'utf8').match(/(?<=^FROM .*node:)[\d.]+/gm)
  expect(new Set(bases)).toEqual(versions)
  expect(bases).toHaveLength(2)
})
