/** The oldest Node that the programs run on, as `engines` of package.json says it: `Worker.cpuUsage` came with it. */
export const oldestNode = '24.6.0'

/** Why this Node cannot run the tool, and what to do; undefined where it can. Older ones fail without saying so. */
export function whyNodeIsTooOld(version: string, path: string): string | undefined {
  if (version.localeCompare(oldestNode, 'en', { numeric: true }) >= 0) return undefined
  return `graphwright needs Node ${oldestNode} or newer, and ${path} is ${version}: put a newer node first in PATH`
}
