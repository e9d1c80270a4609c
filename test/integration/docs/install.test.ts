import { execFile } from 'node:child_process'
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { load } from 'js-yaml'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ControlPlane, startControlPlane } from '../../kit/cluster-tool.ts'

const run = promisify(execFile)
const root = new URL('../../../', import.meta.url).pathname
const page = readFileSync(`${root}docs/install.md`, 'utf8')

/** The commands of the page in order, by heading. Blocks marked `console` need a registry or another owner of the CRDs. */
function commands(): { heading: string; script: string }[] {
  return page.split(/^##+ /m).flatMap((part) => {
    const heading = part.split('\n')[0] ?? ''
    return [...part.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, script = '']) => ({ heading, script }))
  })
}

/**
 * Pods need a node, and this is a control plane. Programs go into a folder of the test instead of the machine's, and are
 * built there: other tests may be reading dist/.
 */
function adapted(script: string, bin: string): string {
  const build = `esbuild src/bin/graphwright.ts --bundle --platform=node --format=cjs --log-level=error --outfile=${bin}/built.cjs`
  return script
    .split('\n')
    .filter((line) => !/rollout status/.test(line))
    .join('\n')
    .replace(/^make build$/m, build)
    .replaceAll('dist/graphwright.cjs', `${bin}/built.cjs`)
    .replaceAll('/usr/local/bin', bin)
}

let plane: ControlPlane
let bin: string
let path: string

beforeAll(async () => {
  plane = await startControlPlane()
  bin = join(plane.dir, 'bin')
  mkdirSync(bin)
  const { stdout } = await run(`${root}hack/cluster/cluster`, ['path'])
  path = `${bin}:${stdout.trim()}:${root}node_modules/.bin:${process.env.PATH}`
})
afterAll(() => plane.stop())

async function shell(script: string): Promise<string> {
  const env = { ...process.env, PATH: path, KUBECONFIG: plane.kubeconfig }
  const { stdout } = await run('sh', ['-euc', script], { cwd: root, env })
  return stdout
}

describe('docs/install.md', () => {
  it('has commands for every step', () => {
    expect(new Set(commands().map(({ heading }) => heading))).toEqual(
      new Set([
        'With Helm',
        'Namespaces',
        'Who may do what',
        'Breaking the glass',
        'The command line',
        'Upgrading',
        'Uninstalling',
        'Without Helm',
      ]),
    )
  })

  it.each(commands())('$heading', { timeout: 120_000 }, async ({ script }) => {
    const output = await shell(adapted(script, bin))
    expect(output.split('\n')).not.toContain('no')
  })

  it('leaves a working installation where it ends', async () => {
    expect(await shell('kubectl get crd -o name | grep -c graphwright.dev')).toBe('10\n')
    const image = "kubectl -n graphwright-system get deploy graphwright-manager -o jsonpath='{..image}'"
    expect(await shell(image)).toBe('registry.example/graphwright:0.1.0')
  })

  it('describes every value of the chart', () => {
    const values = load(readFileSync(`${root}charts/graphwright/values.yaml`, 'utf8'))
    expect(leaves(values, '').filter((value) => !page.includes(`\`${value}\``))).toEqual([])
  })
})

/** Paths of values; resources and the like are values of their own. */
function leaves(value: unknown, path: string): string[] {
  const isGroup = typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length > 0
  if (!isGroup || path.endsWith('.resources')) return [path]
  return Object.entries(value).flatMap(([key, child]) => leaves(child, path === '' ? key : `${path}.${key}`))
}
