import { createHash } from 'node:crypto'

/** Name of the product in what is hashed. */
const product = 'graphwright'

/** How metrics name an Automation: 12 digits that tell one from another and nobody its name (N-163, N-164). */
export function automationHash({ namespace, name }: { readonly namespace?: string; readonly name: string }): string {
  return createHash('sha256').update(`${product}|${namespace}/${name}`).digest('hex').slice(0, 12)
}
