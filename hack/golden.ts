import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { WorkerSchemaValidator } from '../src/runtime/schema-validator.ts'
import { currentFolder, recordOf, render, tales } from '../test/kit/golden.ts'

/** Writes down what this release makes of the stories of test/golden: programs, and what their firings decide. */

const folder = join(import.meta.dirname, '..', currentFolder)
const schemas = new WorkerSchemaValidator()
rmSync(folder, { recursive: true, force: true })
mkdirSync(folder, { recursive: true })
for (const tale of tales()) {
  writeFileSync(join(folder, `${tale.graph}.json`), render(await recordOf(tale, schemas)))
}
await schemas.close()
console.log(`${tales().length} records written to ${currentFolder}/`)
