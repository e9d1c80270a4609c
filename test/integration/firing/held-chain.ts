import { type Operator, startOperator } from '../../kit/operator.ts'
import { chainGraph, heldCommand, Workspace } from './workspace.ts'

/** A firing of two agents, the first of which works until it is released. */
export interface HeldChain {
  readonly workspace: Workspace
  readonly operator: Operator
  readonly release: () => void
}

/** Resolves when the command of the first agent runs. */
export async function startHeldChain(): Promise<HeldChain> {
  const { line, release } = heldCommand()
  const workspace = await Workspace.create({ triage: line })
  const operator = await startOperator(workspace.client, workspace.namespace)
  await workspace.applyGraph(chainGraph)
  await workspace.fire()
  await workspace.runIn('Running', 'triage')
  return { workspace, operator, release }
}
