import { type SpawnSyncReturns, spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { root, toolFolder } from '../operator.ts'

/** How kubectl, helm and graphwright reach the cluster of the demo. */
export interface Access {
  readonly kubectl: string
  readonly helm: string
  /** What a person adds to kubectl and graphwright to reach the same cluster: `--context NAME`, or nothing. */
  readonly flags: readonly string[]
  /** The same for helm. */
  readonly helmFlags: readonly string[]
  readonly env: NodeJS.ProcessEnv
}

/** A cluster of our own: its kubeconfig has nothing else in it. */
export function accessByKubeconfig(kubeconfig: string): Access {
  const tools = toolFolder()
  const env = { ...process.env, KUBECONFIG: kubeconfig }
  return { kubectl: join(tools, 'kubectl'), helm: join(tools, 'helm'), flags: [], helmFlags: [], env }
}

/** A cluster by a context of the kubeconfig that kubectl would use. */
export function accessByContext(context: string): Access {
  const flags = ['--context', context]
  const helmFlags = ['--kube-context', context]
  const kubectl = program('kubectl', ['version', '--client', '-o', 'json'], isCurrentKubectl)
  const helm = program('helm', ['version', '--short'], (said) => /^v[34]\./.test(said))
  return { kubectl, helm, flags, helmFlags, env: process.env }
}

/** The program of this machine, else the one that is built for the local cluster, which takes minutes the first time. */
function program(name: string, version: readonly string[], isGood: (said: string) => boolean): string {
  const { status, stdout } = spawnSync(name, [...version], { encoding: 'utf8' })
  return status === 0 && isGood(stdout) ? name : join(toolFolder(), name)
}

/** Not the one of a distribution that is years old: it would not know what it is asked. */
function isCurrentKubectl(said: string): boolean {
  const [, minor = '0'] = /"minor": "(\d+)/.exec(said) ?? []
  return Number.parseInt(minor, 10) >= 30
}

/** A command ended with an error; the message is what it said. */
export class CommandFailed extends Error {
  override readonly name = 'CommandFailed'
}

/** Output of kubectl. @throws {CommandFailed} */
export function kubectl({ kubectl, flags, env }: Access, args: readonly string[], input?: string): string {
  return outputOf(spawn(kubectl, [...flags, ...args], env, input), `kubectl ${args.join(' ')}`)
}

/** Output of helm. @throws {CommandFailed} */
export function helm({ helm, helmFlags, env }: Access, args: readonly string[]): string {
  return outputOf(spawn(helm, [...helmFlags, ...args], env), `helm ${args.join(' ')}`)
}

function spawn(command: string, args: readonly string[], env: NodeJS.ProcessEnv, input?: string) {
  return spawnSync(command, args, { cwd: root, env, encoding: 'utf8', input: input ?? '', maxBuffer: 1 << 26 })
}

function outputOf({ status, stdout, stderr, error }: SpawnSyncReturns<string>, command: string): string {
  if (error !== undefined) throw error
  if (status === 0) return stdout
  throw new CommandFailed(stderr.trim() === '' ? `${command} ended with exit code ${status}` : stderr.trim())
}
