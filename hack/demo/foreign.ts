import { createInterface } from 'node:readline/promises'
import type { KubeConfig } from '@kubernetes/client-node'
import { loadKubeConfig } from '../../src/kube/config.ts'
import { operatorNamespace } from '../operator.ts'
import { type ForeignTarget, imageText, Refusal } from './target.ts'

/** The cluster of a context, as the kubeconfig has it. Nothing is sent to find it out. */
export interface ForeignCluster {
  readonly context: string
  readonly server: string
  readonly user: string
  /** Namespace of the context. */
  readonly namespace: string
}

/** Namespace of the sample in clusters of others, where `demo` may well be somebody's. */
export const sampleNamespace = 'graphwright-demo'

/** Finds the context where kubectl would. @throws {KubeConfigError} which lists the contexts that there are */
export function foreignCluster(context: string): ForeignCluster {
  const config: KubeConfig = loadKubeConfig({ context })
  const found = config.getContextObject(context)
  return {
    context,
    server: config.getCurrentCluster()?.server ?? '',
    user: found?.user ?? '',
    namespace: found?.namespace ?? 'default',
  }
}

/** What people are asked before anything is sent to a cluster that is not the demo's own. */
export function installQuestion({ context, server, user }: ForeignCluster, { image }: ForeignTarget): string {
  const name = image === undefined ? '' : imageText(image)
  return `This cluster is not the demo's own:

  context  ${context}
  server   ${server}
  user     ${user}

It would be given, all of it removed again by  make demo-down CONTEXT=${context}
  - the Helm release graphwright in the namespace ${operatorNamespace}, with the image ${name}
  - the kinds of graphwright.dev, admission policies and cluster roles, which hold for the whole cluster
  - the namespace ${sampleNamespace} with a sample, whose pods run with the same image`
}

/** The same before something is removed. */
export function removeQuestion({ context, server, user }: ForeignCluster): string {
  return `This cluster is not the demo's own:

  context  ${context}
  server   ${server}
  user     ${user}

It would lose what the demo installed there, and nothing else:
  - the namespace ${sampleNamespace} with everything in it
  - the Helm release graphwright and its namespace ${operatorNamespace}, the contents of its volume included
  - the kinds of graphwright.dev`
}

/** Asks on the terminal. @throws {Refusal} where the answer is no, or there is nobody to ask */
export async function agree(question: string, isAgreed: boolean): Promise<void> {
  console.log(question)
  if (isAgreed) return
  if (!process.stdin.isTTY) {
    throw new Refusal('There is no terminal to ask on, so nothing was done. Add YES=1 to answer yes beforehand.')
  }
  const terminal = createInterface({ input: process.stdin, output: process.stdout })
  const answer = await terminal.question('\nGo on? [y/N] ')
  terminal.close()
  if (!/^y(es)?$/i.test(answer.trim())) throw new Refusal('Nothing was done.')
}
