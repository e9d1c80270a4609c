/** The oldest major version of Node that the programs run on; `engines` of package.json says the same. */
export const oldestNode = 24

/** Why this Node cannot run the tool, and what to do; undefined where it can. Older ones fail without saying so. */
export function whyNodeIsTooOld(version: string, path: string): string | undefined {
  if (Number.parseInt(version, 10) >= oldestNode) return undefined
  return `graphwright needs Node ${oldestNode} or newer, and ${path} is ${version}: put a newer node first in PATH`
}
