import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ControlPlane, startControlPlane } from '../../kit/cluster-tool.ts'
import { previousReleaseProblem, unpackPreviousRelease } from '../../kit/previous-release.ts'

/** The commands of docs/upgrading.md, on an installation of the previous release. There are no nodes: no pod starts. */

const run = promisify(execFile)
const root = new URL('../../../', import.meta.url).pathname
const page = readFileSync(`${root}docs/upgrading.md`, 'utf8')
const problem = previousReleaseProblem()
const chart = 'charts/graphwright'

let plane: ControlPlane
let previous: ReturnType<typeof unpackPreviousRelease>
let path: string

/** The commands under a heading of the page, without those that wait for pods. */
function commandsOf(heading: string): string {
  const [, part = ''] = page.split(`## ${heading}\n`)
  const [, script = ''] = /^```sh\n(.*?)^```$/ms.exec(part) ?? []
  return script
    .split('\n')
    .filter((line) => !/rollout status/.test(line))
    .join('\n')
}

/** Runs commands as a person does who stands in the folder of a release. */
async function shell(script: string, folder: string): Promise<string> {
  const env = { ...process.env, PATH: path, KUBECONFIG: plane.kubeconfig }
  const { stdout } = await run('sh', ['-euc', script], { cwd: folder, env, maxBuffer: 1 << 24 })
  return stdout
}

const kubectl = (command: string) => shell(`kubectl ${command}`, root)

/** Whether the definition of Automations knows what only this release knows. */
async function isNewDefinition(): Promise<boolean> {
  return (await kubectl('get crd automations.graphwright.dev -o json')).includes('successfulLimit')
}

async function image(): Promise<string> {
  return await kubectl("-n graphwright-system get deploy graphwright-manager -o jsonpath='{..image}'")
}

describe.skipIf(problem !== undefined)(`docs/upgrading.md${problem === undefined ? '' : ` (${problem})`}`, () => {
  beforeAll(async () => {
    plane = await startControlPlane()
    previous = unpackPreviousRelease()
    const { stdout } = await run(`${root}hack/cluster/cluster`, ['path'])
    path = `${stdout.trim()}:${process.env.PATH}`
    const install = `helm install graphwright ${chart} --namespace graphwright-system --create-namespace`
    await shell(
      `${install} --set image.repository=registry.example/graphwright --set image.tag=before`,
      previous.folder,
    )
  }, 300_000)
  afterAll(async () => {
    await plane?.stop()
    previous?.remove()
  })

  it('an upgrade brings the definitions up to date, and keeps objects and values', { timeout: 120_000 }, async () => {
    expect(await isNewDefinition()).toBe(false)
    await kubectl(`apply --server-side -f ${previous.folder}manifests/samples/environment.yaml`)
    const before = await kubectl('get environments -o jsonpath={..metadata.uid}')
    await shell(commandsOf('Upgrade'), root)
    expect(await isNewDefinition()).toBe(true)
    expect(await image()).toBe('registry.example/graphwright:0.1.0')
    expect(await kubectl('get environments -o jsonpath={..metadata.uid}')).toBe(before)
    expect(await kubectl("get crd environments.graphwright.dev -o jsonpath='{.status.storedVersions}'")).toBe(
      '["v1alpha1"]',
    )
  })

  it('going back takes the operator back, and leaves the definitions', { timeout: 120_000 }, async () => {
    await shell(commandsOf('Going back').replace('image.tag=0.1.0', 'image.tag=before'), previous.folder)
    expect(await image()).toBe('registry.example/graphwright:before')
    expect(await isNewDefinition()).toBe(true)
    const before = await kubectl('get environments -o jsonpath={..metadata.uid}')
    expect(before).not.toBe('')
  })

  it('and forward again takes the definitions up again', { timeout: 120_000 }, async () => {
    await shell(commandsOf('Upgrade').replace('--set image', '--set crds.install=true --set image'), root)
    expect(await isNewDefinition()).toBe(true)
    const owner = "-o jsonpath='{.metadata.annotations.meta\\.helm\\.sh/release-name}'"
    expect(await kubectl(`get crd automations.graphwright.dev ${owner}`)).toBe('graphwright')
    expect(await shell('helm get manifest graphwright -n graphwright-system', root)).toContain('successfulLimit')
  })
})
