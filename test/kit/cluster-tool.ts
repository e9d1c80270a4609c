import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import { loadKubeConfig } from '../../src/kube/config.ts'
import { Transport } from '../../src/kube/transport.ts'
import { eventually } from './eventually.ts'

/** A running control plane: etcd, API server, controller manager and scheduler, without nodes. */
export interface ControlPlane {
  readonly server: string
  /** Path of the administrator's kubeconfig. */
  readonly kubeconfig: string
  readonly dir: string
  /** Paths of the kubeconfigs of further users. */
  readonly users: Readonly<Record<string, string>>
  /** Ends it and removes its files. */
  stop(): Promise<void>
}

export interface ControlPlaneOptions {
  /** Further users with their groups: `{ alice: ['devs'] }`. */
  readonly users?: Readonly<Record<string, readonly string[]>>
  readonly apiServerFlags?: readonly string[]
  readonly controllerManagerFlags?: readonly string[]
}

const tool = new URL('../../hack/cluster/cluster', import.meta.url).pathname

/**
 * Starts a control plane that ends with this process, however that ends: the tool holds the other end of its standard
 * input. The first time on a machine it is built, which takes minutes; progress goes to standard error.
 */
export async function startControlPlane(options: ControlPlaneOptions = {}): Promise<ControlPlane> {
  const users = Object.entries(options.users ?? {}).map(([name, groups]) => `--user=${name}=${groups.join(',')}`)
  const flags = [
    ...(options.apiServerFlags ?? []).map((flag) => `--apiserver-flag=${flag}`),
    ...(options.controllerManagerFlags ?? []).map((flag) => `--controller-manager-flag=${flag}`),
  ]
  const child = spawn(tool, ['up', '--control-plane', '--foreground', ...users, ...flags], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', resolve)
  })
  const line = await Promise.race([firstLine(child), ended.then(failed)])
  const ready = JSON.parse(line) as Omit<ControlPlane, 'stop'>
  return {
    ...ready,
    users: ready.users ?? {},
    async stop() {
      child.stdin?.end()
      await ended
    },
  }
}

async function firstLine(child: ChildProcess): Promise<string> {
  if (child.stdout === null) throw new Error('no standard output')
  for await (const line of createInterface({ input: child.stdout })) return line
  return new Promise(() => {})
}

function failed(code: number | null): never {
  throw new Error(`hack/cluster/cluster did not start a control plane (exit code ${code}); its errors stand above`)
}

/**
 * Kills the API server of a control plane with SIGKILL. The returned function starts it again, as it was, and resolves
 * when it is ready; it dies with its standard input, and so with this process.
 */
export async function killApiServer(controlPlane: ControlPlane): Promise<() => Promise<ChildProcess>> {
  const pid = Number.parseInt(await readFile(`${controlPlane.dir}/run/kube-apiserver.pid`, 'utf8'), 10)
  const command = (await readFile(`/proc/${pid}/cmdline`, 'utf8')).split('\0').filter((word) => word !== '')
  process.kill(pid, 'SIGKILL')
  await untilEnded(pid)
  return () => startApiServer(controlPlane, command)
}

/** The shell lives as long as the server does, and kills it when this process lets go of its standard input. */
const tied = 'exec 3<&0; "$@" & server=$!; { cat <&3 >/dev/null; kill -9 $server; } & wait $server'
const starts = 3

async function startApiServer(controlPlane: ControlPlane, command: readonly string[]): Promise<ChildProcess> {
  const path = `${controlPlane.dir}/kube-apiserver-again.log`
  for (let attempt = 0; attempt < starts; attempt++) {
    const log = openSync(path, 'a')
    const child = spawn('sh', ['-c', tied, 'sh', ...command], { stdio: ['pipe', log, log] })
    closeSync(log)
    const ready = untilReady(controlPlane).then(() => true)
    ready.catch(() => {})
    // Its port may be taken for a moment, by anybody's outgoing connection.
    if (await Promise.race([ready, once(child, 'exit').then(() => false)])) return child
    child.stdin?.end()
  }
  const said = (await readFile(path, 'utf8')).trimEnd().split('\n').slice(-5).join('\n')
  throw new Error(`the API server did not start again:\n${said}`)
}

/** A process that was killed keeps its port until it has ended, and the next one would not get it. */
function untilEnded(pid: number): Promise<unknown> {
  return eventually(async () => {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
    // Its state stands behind its name, which is in parentheses.
    return stat === '' || /\) [ZX] /.test(stat)
  })
}

async function untilReady(controlPlane: ControlPlane): Promise<void> {
  const transport = new Transport(loadKubeConfig({ kubeconfig: controlPlane.kubeconfig }))
  try {
    await eventually(() => transport.text({ path: '/readyz', timeoutMillis: 2_000 }), { timeout: 60_000 })
  } finally {
    await transport.close()
  }
}
