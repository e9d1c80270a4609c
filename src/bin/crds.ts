import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { dump } from 'js-yaml'
import { type CustomResourceDefinition, crdOf } from '../api/crd.ts'
import { kinds } from '../api/kinds.ts'

/**
 * Writes `crds/<plural>.yaml` and the chart's copies from src/api. With `--check` writes nothing and exits 1, naming
 * each file that differs from what src/api says.
 */

const root = join(import.meta.dirname, '..', '..')
const plainFolder = 'crds'
const chartFolder = 'charts/graphwright/files/crds'

/** Client-side `kubectl apply` keeps the manifest in an annotation of at most 256 KiB. */
const maxBytes = 200_000

/** Path relative to the repository → text of every generated file. */
function generate(): Map<string, string> {
  const files = new Map<string, string>()
  for (const kind of kinds) {
    const crd = crdOf(kind)
    files.set(`${plainFolder}/${kind.plural}.yaml`, render(crd))
    files.set(`${chartFolder}/${kind.plural}.yaml`, render(kept(crd)))
  }
  return files
}

/** Uninstalling the chart must not delete every object of the kind, which is what deleting a CRD does. */
function kept(crd: CustomResourceDefinition): CustomResourceDefinition {
  return { ...crd, metadata: { ...crd.metadata, annotations: { 'helm.sh/resource-policy': 'keep' } } }
}

function render(crd: CustomResourceDefinition): string {
  const text = `# Generated from src/api by make crds. Do not edit.\n${dump(crd, { noRefs: true, lineWidth: 120 })}`
  const bytes = Buffer.byteLength(text)
  if (bytes > maxBytes) {
    throw new Error(`the CRD ${crd.metadata.name} has ${bytes} bytes, over ${maxBytes}: inline less in its schema`)
  }
  return text
}

/** Files of the generated folders that no kind stands for any more. */
function strays(files: ReadonlyMap<string, string>): string[] {
  return [plainFolder, chartFolder]
    .filter((folder) => existsSync(join(root, folder)))
    .flatMap((folder) => readdirSync(join(root, folder)).map((name) => `${folder}/${basename(name)}`))
    .filter((path) => !files.has(path))
}

function check(files: ReadonlyMap<string, string>): number {
  const differing = [...files].filter(([path, text]) => textOf(path) !== text).map(([path]) => path)
  const wrong = [...differing, ...strays(files)]
  for (const path of wrong) console.error(`${path} differs from src/api: run make crds and commit the result`)
  return wrong.length === 0 ? 0 : 1
}

function textOf(path: string): string | undefined {
  const absolute = join(root, path)
  return existsSync(absolute) ? readFileSync(absolute, 'utf8') : undefined
}

function write(files: ReadonlyMap<string, string>): number {
  for (const path of strays(files)) rmSync(join(root, path))
  for (const [path, text] of files) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  console.log(`${files.size} files written to ${plainFolder}/ and ${chartFolder}/`)
  return 0
}

process.exitCode = process.argv.includes('--check') ? check(generate()) : write(generate())
