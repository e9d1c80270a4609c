/** What the kubelet says where it has no log to give, followed by the id that the container has in its runtime. */
const containerGone = /^unable to retrieve container logs for [a-z-]+:\/\/[0-9a-f]{64}\n?$/
const fileGone = /^failed to (try resolving symlinks in path|open log file) "\/[^"\n]*\/\d+\.log": [^\n]*\n?$/

/**
 * What the kubelet said in place of a log, or undefined where this is one. It has begun its answer by the time it looks for
 * the container, so a container or a file that its node no longer has comes as 200 with the error as the text
 * (kubernetes/kubernetes#142258).
 */
export function refusalIn(log: string): string | undefined {
  return containerGone.test(log) || fileGone.test(log) ? log.trimEnd() : undefined
}
