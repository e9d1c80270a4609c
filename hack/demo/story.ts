import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { operatorNamespace, root } from '../operator.ts'
import { type Access, kubectl } from './access.ts'
import { demoPrograms, linkPrograms } from './tools.ts'

const graph = 'triage-and-escalate'
const samples = join(root, 'manifests/samples', graph)
const cli = join(root, 'dist/graphwright.cjs')
const bin = join(root, '.cache/demo/bin')
const sampleImage = 'localhost/graphwright-samples:dev'

/** The part of the demo that is the same in every cluster: the sample from its graph to its answers. */
export interface Story {
  readonly access: Access
  readonly namespace: string
  /** Image of the agents, any with Node in it; default: that of the sample, which is built for it. */
  readonly image?: string | undefined
  readonly pullSecret?: string | undefined
  /** File of an event of one's own. */
  readonly event?: string | undefined
}

/** What a person is told at the end. */
export interface Farewell {
  /** Commands that set up the person's shell. */
  readonly setUp?: string
  readonly again: string
  readonly end: string
}

/** Runs the command line tool as a person would, output and all; what is shown may be pasted at the root of the checkout. */
function graphwright({ access, namespace }: Story, args: readonly string[]): void {
  const line = [...access.flags, '-n', namespace, ...args.map((arg) => arg.replace(`${root}/`, ''))]
  console.log(`\n$ graphwright ${line.join(' ')}`)
  const { status } = spawnSync(process.execPath, [cli, ...line], { cwd: root, stdio: 'inherit', env: access.env })
  if (status !== 0) throw new Error(`graphwright ${args[0]} ended with exit code ${status}`)
}

/** Shows a command of kubectl and what it says. */
function show(access: Access, args: readonly string[]): void {
  console.log(`\n$ kubectl ${[...access.flags, ...args].join(' ')}\n${kubectl(access, args)}`.trimEnd())
}

export function showOperator({ access }: Story): void {
  show(access, ['get', 'deployment', '-n', operatorNamespace])
}

/** Applies the sample, approves its plan, and waits until it is ready. The namespace has to be there. */
export function applySample(story: Story): void {
  const { access, namespace } = story
  const wait = (object: string, condition: string) =>
    kubectl(access, ['wait', object, '-n', namespace, `--for=condition=${condition}`, '--timeout=30s'])
  graphwright(story, ['plan', '-f', join(samples, 'graph.yaml')])
  show(access, ['apply', '--server-side', '-n', namespace, '-f', `manifests/samples/${graph}`])
  adaptEnvironment(story)
  wait(`agraph/${graph}`, 'Planned')
  show(access, ['get', 'agplan', '-n', namespace])
  graphwright(story, ['approve', graph])
  wait(`agraph/${graph}`, 'Applied')
  wait(`auto/${graph}`, 'Ready')
}

/** The sample's own image is in no registry: elsewhere its agents run in one that is. */
function adaptEnvironment({ access, namespace, image, pullSecret }: Story): void {
  if (image === undefined) return
  const file = `manifests/samples/${graph}/environment.yaml`
  if (!readFileSync(join(root, file), 'utf8').includes(sampleImage)) throw new Error(`${file} names another image`)
  const spec = { image, ...(pullSecret !== undefined && { imagePullSecrets: [pullSecret] }) }
  const patch = ['--type', 'merge', '--patch', JSON.stringify({ spec })]
  show(access, ['patch', 'environment', 'triage', '-n', namespace, ...patch])
}

/** Fires by hand and follows to the end, once for each event. */
export function fire(story: Story): void {
  const events = story.event === undefined ? sampleEvents() : [resolve(story.event)]
  for (const file of events) fireOne(story, file)
}

function sampleEvents(): string[] {
  return ['incident', 'quiet'].map((name) => join(samples, 'events', `${name}.json`))
}

function fireOne(story: Story, file: string): void {
  const { access, namespace } = story
  graphwright(story, ['run', graph, '--event', `@${file}`, '--follow', '--exit-status'])
  const newest = ['get', 'firing', '-n', namespace, '--sort-by=.metadata.creationTimestamp', '-o', 'name']
  const name = kubectl(access, newest).trim().split('\n').at(-1)?.split('/').at(-1)
  if (name === undefined) throw new Error('the firing that was just made is gone')
  graphwright(story, ['trace', name])
}

/** Shows what there is, and says how to go on. */
export function sayGoodbye({ access, namespace }: Story, { setUp, again, end }: Farewell, seconds: number): void {
  show(access, ['get', 'agraph,agplan,auto,firing,session,run', '-n', namespace])
  linkPrograms(bin, demoPrograms(access))
  const flags = [...access.flags, '-n', namespace].join(' ')
  console.log(`
Done in ${seconds} s. To look around:

  export ${setUp === undefined ? '' : `${setUp} `}PATH=${bin}:$PATH
  kubectl get agraph,agplan,auto,firing,session,run,job,pod ${flags}
  kubectl describe firing ${flags}
  kubectl explain automationgraph.spec.nodes${access.flags.length === 0 ? '' : ` ${access.flags.join(' ')}`}
  kubectl graphwright ${flags} run ${graph} --event '{"items": []}' --follow

With an event of your own:  ${again} EVENT=my-event.json
To end it:                  ${end}`)
}
