import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type RunSelf, runApiPaths } from '../api/run-api.ts'
import { ask, type GatewayAccess, type Patience } from './gateway.ts'
import { type IsolationTiming, requireIsolation, type Target } from './isolation.ts'

export interface InputOptions {
  readonly access: GatewayAccess
  /** Folder that the main container reads its input from. */
  readonly folder: string
  /** What the pod must not reach; none where its network is open. */
  readonly targets: readonly Target[]
  readonly patience?: Patience
  readonly isolation?: IsolationTiming
}

const defaultPatience: Patience = { limitMillis: 120_000 }

/**
 * The init container: proves that the network is isolated while it fetches the input, then puts the input where the main
 * container looks for it. Nothing is written before the proof.
 */
export async function deliverInput(options: InputOptions): Promise<void> {
  const [self] = await Promise.all([
    ask<RunSelf>(options.access, { method: 'GET', path: runApiPaths.self }, options.patience ?? defaultPatience),
    requireIsolation(options.targets, options.isolation),
  ])
  writeInput(self, options.folder)
}

/**
 * `bindings/<field>.json`, `event.json` (`null` without an event), and last `prompt.txt`: where that is, all is. The main
 * container runs under another user, so everything is readable for all, whatever the umask.
 */
export function writeInput(self: RunSelf, folder: string): void {
  const bindings = join(folder, 'bindings')
  mkdirSync(bindings, { recursive: true })
  chmodSync(bindings, 0o755)
  for (const [field, text] of Object.entries(self.bindings)) write(join(bindings, bindingFile(field)), text)
  write(join(folder, 'event.json'), JSON.stringify(self.event))
  write(join(folder, inputMarker), self.prompt)
}

/** The file that is written last. */
export const inputMarker = 'prompt.txt'

/** Names of inputs are free text; this keeps a slash in one from being a path. Ordinary names stay as they are. */
function bindingFile(field: string): string {
  return `${encodeURIComponent(field.toWellFormed())}.json`
}

function write(path: string, text: string): void {
  writeFileSync(path, text)
  chmodSync(path, 0o644)
}
