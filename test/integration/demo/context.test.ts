import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { dump, load } from 'js-yaml'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { type ControlPlane, startControlPlane } from '../../kit/cluster-tool.ts'
import { deleteDefinitions } from '../../kit/crds.ts'
import { eventually } from '../../kit/eventually.ts'

const run = promisify(execFile)
const root = new URL('../../../', import.meta.url).pathname
const tool = join(root, 'hack/cluster/cluster')

interface KubeConfigFile {
  clusters: { name: string; cluster: object }[]
  users: { name: string; user: object }[]
  contexts: { name: string; context: { cluster: string; user: string } }[]
}

let plane: ControlPlane
let env: NodeJS.ProcessEnv

/** A person's kubeconfig: their cluster as two users, one that is gone, and none of them current. */
beforeAll(async () => {
  plane = await startControlPlane({ users: { visitor: [] } })
  const { stdout: tools } = await run(tool, ['path'])
  const [admin, visitor] = await Promise.all([plane.kubeconfig, plane.users.visitor ?? ''].map(readConfig))
  const cluster = admin?.clusters[0]?.cluster ?? {}
  const gone = { ...cluster, server: 'https://127.0.0.1:1' }
  const contexts = [
    { name: 'staging', context: { cluster: 'here', user: 'admin' } },
    { name: 'visiting', context: { cluster: 'here', user: 'visitor' } },
    { name: 'gone', context: { cluster: 'gone', user: 'admin' } },
  ]
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      { name: 'here', cluster },
      { name: 'gone', cluster: gone },
    ],
    users: [
      { name: 'admin', user: admin?.users[0]?.user },
      { name: 'visitor', user: visitor?.users[0]?.user },
    ],
    contexts,
  }
  const kubeconfig = join(plane.dir, 'person.kubeconfig')
  writeFileSync(kubeconfig, dump(config))
  env = { ...process.env, KUBECONFIG: kubeconfig, PATH: `${tools.trim()}:${process.env.PATH}` }
}, 120_000)
afterAll(() => plane?.stop())

async function readConfig(path: string): Promise<KubeConfigFile> {
  const { stdout } = await run('cat', [path])
  return load(stdout) as KubeConfigFile
}

interface Ended {
  readonly code: number
  readonly output: string
}

/** Runs a program to its end. Its standard input is no terminal. */
async function ended(command: string, args: readonly string[]): Promise<Ended> {
  const child = spawn(command, args, { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'] })
  const chunks: Buffer[] = []
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => chunks.push(chunk))
  const code = await new Promise<number>((resolve) => child.once('close', (status) => resolve(status ?? -1)))
  return { code, output: Buffer.concat(chunks).toString() }
}

function demo(verb: 'up' | 'down', wishes: Readonly<Record<string, string>>): Promise<Ended> {
  const flags = Object.entries(wishes).map(([name, value]) => `--${name}=${value}`)
  return ended(process.execPath, ['hack/demo/demo.ts', verb, ...flags])
}

async function kubectl(...args: string[]): Promise<string> {
  const { stdout } = await run('kubectl', ['--kubeconfig', plane.kubeconfig, ...args], { env })
  return stdout
}

/** Everything that an installation could leave behind. */
async function contents(): Promise<string[]> {
  const kinds =
    'namespaces,crd,clusterroles,clusterrolebindings,validatingadmissionpolicies,validatingadmissionpolicybindings'
  const text = await kubectl('get', kinds, '-o', 'name')
  return text.trim().split('\n').toSorted()
}

/** Removes what a test has installed or made, also where it failed half-way: the next one finds the cluster empty. */
async function clear(): Promise<void> {
  for (const [release, namespace] of [
    ['gw', 'team'],
    ['graphwright', 'graphwright-system'],
  ] as const) {
    const where = ['--kube-context', 'staging', '-n', namespace]
    await run('helm', ['uninstall', release, ...where, '--ignore-not-found', '--wait'], { env })
  }
  if ((await kubectl('get', 'crd', '-o', 'name')) !== '') await deleteDefinitions(plane.kubeconfig)
  await kubectl('delete', 'namespace', 'team', 'graphwright-demo', 'graphwright-system', '--ignore-not-found')
}

const image = 'registry.example/graphwright:0.1.0'
const staging = { context: 'staging', image, yes: '1' }

/** Answers a question on a terminal. */
function answered(answer: string): Promise<Ended> {
  const command = `${process.execPath} hack/demo/demo.ts up --context=staging --image=${image}`
  return ended('sh', [
    '-c',
    `(sleep 0.2; echo ${answer}; sleep 1) | script --quiet --return --command '${command}' /dev/null`,
  ])
}

describe('before anything is sent to a cluster of others, make demo', { timeout: 180_000 }, () => {
  it('says which contexts there are', async () => {
    const { code, output } = await demo('up', { ...staging, context: 'prod' })
    expect(code).toBe(1)
    expect(output.trim()).toBe('the kubeconfig has no context prod; it has: staging, visiting, gone')
  })

  it('asks for an image that nodes can pull', async () => {
    const { code, output } = await demo('up', { context: 'staging', yes: '1' })
    expect(code).toBe(1)
    expect(output).toContain('IMAGE=registry.example/graphwright:0.1.0')
  })

  it.each(['up', 'down'] as const)(
    '%s says what would be done and where, and stops where nobody can be asked',
    async (verb) => {
      const { code, output } = await demo(verb, { context: 'gone', image })
      expect(code).toBe(1)
      expect(output).toContain('context  gone\n  server   https://127.0.0.1:1\n  user     admin')
      expect(output).toContain('graphwright-system')
      expect(output).toContain('There is no terminal to ask on, so nothing was done. Add YES=1')
      expect(output).not.toContain('does not answer')
    },
  )

  it('takes no for an answer', async () => {
    const { code, output } = await answered('n')
    expect(output).toContain('Go on? [y/N]')
    expect(output).toContain('Nothing was done.')
    expect(output).not.toContain('==>')
    expect(code).toBe(1)
  })

  it('takes yes for an answer, and goes on', async () => {
    const { output } = await answered('y')
    expect(output).toContain('==> 1/6')
    expect(output).toContain('no default StorageClass')
  })
})

describe('make demo changes nothing, and says what to do', { timeout: 180_000 }, () => {
  let before: string[]
  beforeAll(async () => {
    before = await contents()
  })
  afterEach(async ({ task }) => {
    if (task.result?.state === 'fail') await clear()
  })

  it.each([
    [
      'where nobody answers',
      { ...staging, context: 'gone' },
      /^https:\/\/127.0.0.1:1 \(context gone\) does not answer this user: .*refused/m,
    ],
    [
      'where rights are missing',
      { ...staging, context: 'visiting' },
      /User visitor of context visiting may not install: the right to create namespaces, .*clusterroles/,
    ],
    [
      'where the volume would find no StorageClass',
      staging,
      /no default StorageClass.*STORAGE_CLASS=name. It has none at all/,
    ],
    [
      'where the StorageClass is misspelt',
      { ...staging, 'storage-class': 'fast' },
      /The cluster has no StorageClass fast/,
    ],
  ])('%s', async (_, wishes, message) => {
    const { code, output } = await demo('up', wishes)
    expect(code).toBe(1)
    expect(output).toMatch(message)
    expect(await contents()).toEqual(before)
  })

  it('where it has installed nothing that it could remove', async () => {
    const { code, output } = await demo('down', { context: 'staging', yes: '1' })
    expect(code).toBe(1)
    expect(output).toContain('The demo has installed nothing in the cluster of context staging.')
    expect(await contents()).toEqual(before)
  })

  it('where somebody else installed, or left the kinds', async () => {
    await run(
      'helm',
      ['--kube-context', 'staging', 'install', 'gw', 'charts/graphwright', '-n', 'team', '--create-namespace'],
      { cwd: root, env },
    )
    for (const verb of ['up', 'down'] as const) {
      expect((await demo(verb, staging)).output).toContain(
        verb === 'up' ? 'installed there already, as the Helm release team/gw' : 'The demo has installed nothing',
      )
    }
    await run('helm', ['--kube-context', 'staging', 'uninstall', 'gw', '-n', 'team'], { cwd: root, env })
    expect((await demo('up', staging)).output).toContain('left by the Helm release team/gw, without an operator')
    await deleteDefinitions(plane.kubeconfig)
    await kubectl('delete', 'namespace', 'team')
    expect(await contents()).toEqual(before)
  })

  it('where a namespace of that name is somebody’s', async () => {
    await kubectl('create', 'namespace', 'graphwright-demo')
    expect((await demo('up', staging)).output).toContain('The namespace graphwright-demo is there already')
    await kubectl('delete', 'namespace', 'graphwright-demo')
  })
})

describe('what make demo installed', { timeout: 180_000 }, () => {
  /** Starts the demo, and ends it where it would wait for pods, which nothing runs here. */
  async function untilInstalled(): Promise<void> {
    const flags = ['--context=staging', `--image=${image}`, '--yes=1', '--pull-secret=registry', '--storage-class=std']
    const child: ChildProcess = spawn(process.execPath, ['hack/demo/demo.ts', 'up', ...flags], {
      cwd: root,
      env,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const said: Buffer[] = []
    for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk: Buffer) => said.push(chunk))
    try {
      const refused = await eventually(
        async () => {
          if (child.exitCode !== null) return Buffer.concat(said).toString()
          await kubectl('get', 'deployment', 'graphwright-manager', '-n', 'graphwright-system')
          const { stdout } = await run('helm', ['--kube-context', 'staging', 'list', '-n', 'graphwright-system'], {
            env,
          })
          expect(stdout).toContain('deployed')
          return undefined
        },
        { timeout: 120_000 },
      )
      expect(refused).toBeUndefined()
    } finally {
      // With the kubectl that it waits for.
      if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGKILL')
    }
  }

  it('pulls as it was told, may be installed again, and is removed whole, but not with what others made', async () => {
    const before = await contents()
    await kubectl('apply', '-f', join(root, 'test/integration/demo/storage-class.yaml'))
    const secret = ['create', 'secret', 'docker-registry', 'registry', '--docker-server=registry.example']
    await kubectl(...secret, '--docker-username=a', '--docker-password=b')
    await untilInstalled()
    await untilInstalled()
    const text = await kubectl('get', 'deployment', 'graphwright-manager', '-n', 'graphwright-system', '-o', 'json')
    const { spec } = (JSON.parse(text) as { spec: { template: { spec: object } } }).spec.template
    expect(spec).toMatchObject({
      imagePullSecrets: [{ name: 'registry' }],
      containers: [{ image, imagePullPolicy: 'IfNotPresent' }],
    })
    for (const namespace of ['graphwright-system', 'graphwright-demo'])
      await kubectl('get', 'secret', 'registry', '-n', namespace)

    await kubectl('apply', '--server-side', '-f', join(root, 'manifests/samples/environment.yaml'), '-n', 'default')
    const refused = await demo('down', { context: 'staging', yes: '1' })
    expect(refused.code).toBe(1)
    expect(refused.output).toMatch(/that the demo did not make.*\n {2}default: Environment /)
    await kubectl('get', 'deployment', 'graphwright-manager', '-n', 'graphwright-system')

    await kubectl('delete', 'environments', '--all', '-n', 'default')
    const removed = await demo('down', { context: 'staging', yes: '1' })
    expect(removed.output).toContain('It is as it was before.')
    expect(removed.code).toBe(0)
    expect(await contents()).toEqual(before)
  })
})
