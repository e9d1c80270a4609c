import { spawnSync } from 'node:child_process'
import { parseArgs } from 'node:util'
import {
  buildImages,
  ensureCluster,
  images,
  installOperator,
  loadImages,
  operatorNamespace,
  removeCluster,
  root,
} from '../operator.ts'
import { type Access, accessByContext, accessByKubeconfig } from './access.ts'
import { checkEvent } from './event.ts'
import { agree, foreignCluster, installQuestion, removeQuestion, sampleNamespace } from './foreign.ts'
import { copyPullSecret, type Installation, installChart, makeNamespace } from './install.ts'
import { kindClusters, kindContext, kindObstacle, kindPlan, kindRemoval, runKind } from './kind.ts'
import { removeInstallation } from './remove.ts'
import { applySample, type Farewell, fire, type Story, sayGoodbye, showOperator } from './story.ts'
import { checkVersion, isOurs, occupied, storageProblem, survey } from './survey.ts'
import { type ForeignTarget, imageName, imageText, Refusal, type Target, targetOf } from './target.ts'

/**
 * `make demo`: the main job of the project, from nothing to the answer of an agent: on a cluster of its own, on one that
 * kind makes, or on one that somebody else made. `make demo-down` ends it.
 */

const localCluster = 'demo'
const steps = 6

function title(step: number, text: string): void {
  console.log(`\n==> ${step}/${steps}  ${text}`)
}

/** Steps 4 to 6, which are the same everywhere. */
function tell(story: Story, farewell: Farewell, started: number): void {
  title(4, 'a graph, its plan, and the approval of exactly that plan')
  makeNamespace(story.access, story.namespace)
  applySample(story)
  title(5, 'fired by hand, run in pods')
  fire(story)
  title(6, 'what is left to look at')
  sayGoodbye(story, farewell, Math.round((performance.now() - started) / 1000))
}

function upLocal(event: string | undefined): void {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) {
    throw new Refusal(
      'The demo runs pods on a node of its own: run it on Linux, as root (sudo make demo). ' +
        'CLUSTER=kind uses Docker instead, CONTEXT=name a cluster of your kubeconfig.',
    )
  }
  const started = performance.now()
  title(1, 'a real Kubernetes, in a network namespace of its own')
  const kubeconfig = ensureCluster(localCluster)
  console.log(kubeconfig)
  title(2, 'the images of the operator and of the sample agents')
  loadImages(localCluster)
  console.log('localhost/graphwright:dev and localhost/graphwright-samples:dev are on the node')
  title(3, 'the operator, from its Helm chart')
  installOperator(localCluster)
  const story = { access: accessByKubeconfig(kubeconfig), namespace: 'demo', event }
  showOperator(story)
  tell(story, { setUp: `KUBECONFIG=${kubeconfig}`, again: 'make demo', end: 'make demo-down' }, started)
}

function upKind(event: string | undefined): void {
  const obstacle = kindObstacle()
  if (obstacle !== undefined) throw new Refusal(`${obstacle}. Without it: make demo, or CONTEXT=name.`)
  const started = performance.now()
  title(1, 'a cluster of kind')
  runKind(kindPlan(kindClusters(), []))
  title(2, 'the images of the operator and of the sample agents')
  buildImages()
  runKind(kindPlan(kindClusters(), images))
  const story = { access: accessByContext(kindContext), namespace: sampleNamespace, event }
  install(story, { image: imageName('localhost/graphwright:dev') })
  tell(story, { again: 'make demo CLUSTER=kind', end: 'make demo-down CLUSTER=kind' }, started)
}

async function upForeign(target: ForeignTarget, event: string | undefined): Promise<void> {
  const { image, pullSecret, storageClass } = target
  const cluster = foreignCluster(target.context)
  if (image === undefined) throw new Refusal(imageNeeded)
  await agree(installQuestion(cluster, target), target.isAgreed)
  const started = performance.now()
  const access = accessByContext(target.context)
  title(1, `what is in the cluster of context ${target.context}`)
  const found = survey(access, cluster)
  const problem = occupied(found) ?? storageProblem(found, storageClass)
  if (problem !== undefined) throw new Refusal(problem)
  console.log(isOurs(found) ? 'what the demo installed before; it is brought up to date' : 'nothing in the way')
  title(2, 'the command line tool')
  buildPrograms()
  const story = { access, namespace: sampleNamespace, image: imageText(image), pullSecret, event }
  makeNamespace(access, operatorNamespace)
  makeNamespace(access, sampleNamespace)
  if (pullSecret !== undefined) copyPullSecret(access, pullSecret, cluster)
  install(story, { image, pullSecret, storageClass })
  const settings = {
    CONTEXT: target.context,
    IMAGE: imageText(image),
    PULL_SECRET: pullSecret,
    STORAGE_CLASS: storageClass,
  }
  const given = Object.entries(settings).filter(([, value]) => value !== undefined)
  const again = `make demo ${given.map((pair) => pair.join('=')).join(' ')}`
  tell(story, { again, end: `make demo-down CONTEXT=${target.context}` }, started)
}

const imageNeeded = `The nodes of that cluster have to pull the image of the operator: name it with IMAGE=registry.example/graphwright:0.1.0.
"make image" builds it, and docs/install.md says how to push it. The sample's agents run in the same image.`

function install(story: Story, installation: Installation): void {
  title(3, 'the operator, from its Helm chart')
  makeNamespace(story.access, operatorNamespace)
  installChart(story.access, installation)
  showOperator(story)
}

function buildPrograms(): void {
  const { status } = spawnSync(process.execPath, ['build.ts'], { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] })
  if (status !== 0) throw new Error('the programs could not be built; see above')
}

async function downForeign({ context, isAgreed }: ForeignTarget): Promise<void> {
  const cluster = foreignCluster(context)
  await agree(removeQuestion(cluster), isAgreed)
  const access: Access = accessByContext(context)
  checkVersion(access, cluster)
  const found = survey(access, cluster)
  if (!isOurs(found)) throw new Refusal(`The demo has installed nothing in the cluster of context ${context}.`)
  removeInstallation(access, found.installed.crds)
  console.log('It is as it was before.')
}

function up(target: Target, event: string | undefined): Promise<void> | void {
  if (event !== undefined) checkEvent(event)
  if (target.kind === 'context') return upForeign(target, event)
  return target.kind === 'kind' ? upKind(event) : upLocal(event)
}

function down(target: Target): Promise<void> | void {
  if (target.kind === 'context') return downForeign(target)
  if (target.kind === 'local') return removeCluster(localCluster)
  const obstacle = kindObstacle()
  if (obstacle !== undefined) throw new Refusal(`${obstacle}.`)
  runKind(kindRemoval(kindClusters()))
}

async function main(): Promise<void> {
  const text = { type: 'string' } as const
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      event: text,
      context: text,
      cluster: text,
      image: text,
      'pull-secret': text,
      'storage-class': text,
      yes: text,
    },
  })
  const { event, 'pull-secret': pullSecret, 'storage-class': storageClass, ...rest } = values
  const target = targetOf({ ...rest, pullSecret, storageClass })
  await (positionals[0] === 'down' ? down(target) : up(target, event))
}

try {
  await main()
} catch (error) {
  console.error(`\n${error instanceof Error ? error.message : error}`)
  process.exitCode = 1
}
