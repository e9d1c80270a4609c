import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'

const run = promisify(execFile)
const root = new URL('../../', import.meta.url).pathname

/** The fenced blocks of one language under a heading of a page, in order. */
export function blocksUnder(page: string, heading: string, language: string): string[] {
  const text = readFileSync(`${root}${page}`, 'utf8')
  const part = text.split(/^##+ /m).find((one) => one.split('\n')[0] === heading)
  if (part === undefined) throw new Error(`${page} has no heading ${heading}`)
  return [...part.matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\`$`, 'gms'))].map(([, script = '']) => script)
}

/** Runs a script in the root of the checkout, with the local cluster's kubectl and helm, and returns what it prints. */
export async function shell(script: string, kubeconfig: string, folders: readonly string[] = []): Promise<string> {
  const { stdout: tools } = await run(`${root}hack/cluster/cluster`, ['path'])
  const PATH = [...folders, tools.trim(), `${root}node_modules/.bin`, process.env.PATH].join(':')
  const env = { ...process.env, PATH, KUBECONFIG: kubeconfig }
  const { stdout } = await run('sh', ['-euc', script], { cwd: root, env, maxBuffer: 1 << 24 })
  return stdout
}
