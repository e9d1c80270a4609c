import type { AutomationFiring } from '../api/automation-firing.ts'
import { type AutomationProgram, automationProgram } from '../api/automation-program.ts'
import { isForbidden } from '../kube/error.ts'
import type { DeepReadonly } from '../lib/readonly.ts'
import { readProgram } from '../program/formats.ts'
import type { Cluster } from './cluster.ts'

/** Ids of steps in the order of their program; empty where the program cannot be read any more. */
export type StepOrder = readonly string[]

/** A firing, and the order in which its steps are shown. */
export interface OrderedFiring {
  readonly firing: DeepReadonly<AutomationFiring>
  readonly order: StepOrder
}

/** Where a step stands; those that the program does not know come last. */
export function placeOf(id: string, order: StepOrder): number {
  const place = order.indexOf(id)
  return place < 0 ? order.length : place
}

export function orderOf(program: DeepReadonly<AutomationProgram> | undefined): StepOrder {
  const known = program && readProgram(program.spec)
  return known?.kind === 'readable' ? known.program.steps.map(({ id }) => id) : []
}

/** Finds the order by the program that a firing was admitted with, and reads each program once. */
export class StepOrders {
  readonly #cluster: Cluster
  readonly #byProgram = new Map<string, Promise<StepOrder>>()

  constructor(cluster: Cluster) {
    this.#cluster = cluster
  }

  async find(firing: DeepReadonly<AutomationFiring>): Promise<OrderedFiring> {
    const name = firing.status?.admission?.program?.name
    if (name === undefined) return { firing, order: [] }
    const known = this.#byProgram.get(name) ?? this.#read(name)
    this.#byProgram.set(name, known)
    return { firing, order: await known }
  }

  /** A program that is gone, or not for this user to see, is no reason to show nothing. */
  async #read(name: string): Promise<StepOrder> {
    const { client, namespace } = this.#cluster
    try {
      return orderOf(await client.find(automationProgram, { name, namespace }))
    } catch (error) {
      if (isForbidden(error)) return []
      this.#byProgram.delete(name) // another time it may answer
      throw error
    }
  }
}
