import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { build } from 'esbuild'

/**
 * Bundles every program into dist/: one CommonJS file each, so that the image needs no node_modules and a program starts
 * without looking for files. Not minified: an uncaught error prints the line it came from.
 */

const programs = {
  /** The command line tool, the manager and the gateway. */
  graphwright: 'src/bin/graphwright.ts',
  /** What runs inside every job pod, apart and small, because each pod waits for it to start. */
  runner: 'src/bin/runner.ts',
  /** The worker thread that checks texts against users' schemas. */
  'schema-worker': 'src/runtime/schema-worker.ts',
}

/** Another folder than dist/ may be named. */
const folder = process.argv[2] ?? 'dist'

rmSync(folder, { recursive: true, force: true })

await build({
  entryPoints: programs,
  outdir: folder,
  outExtension: { '.js': '.cjs' },
  bundle: true,
  platform: 'node',
  target: 'node24.6',
  format: 'cjs',
  legalComments: 'none',
  logLevel: 'warning',
  // Modules that ask import.meta for their folder fall back to __dirname, which a CommonJS bundle has.
  logOverride: { 'empty-import-meta': 'silent' },
})

/**
 * What is no ASCII stands in comments and regular expressions; strings are escaped already. V8 keeps a text with one
 * character beyond Latin-1 in it as two bytes for each: 6 MiB more in every process.
 */
function escaped(text: string): string {
  return text.replace(/[\u0080-\uffff]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

for (const name of Object.keys(programs)) {
  const path = `${folder}/${name}.cjs`
  writeFileSync(path, escaped(readFileSync(path, 'utf8')))
  const kibibytes = Math.round(statSync(path).size / 1024)
  console.log(`${path}  ${kibibytes} KiB`)
}
