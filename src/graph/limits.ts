import { isJsonObject } from '../lib/json.ts'
import type { Findings } from './findings.ts'
import { toPlain } from './plain.ts'

/** Limits of a document. The CRD allows a little more, so that the compiler can name what is over. */
export const limits = {
  nodes: 100,
  edges: 300,
  /** As JSON; client-side apply keeps a second copy in an annotation, and annotations end at 256 KiB. */
  documentBytes: 128 * 1024,
  promptBytes: 64 * 1024,
  bindings: 32,
  /** Each of `layout` and `sampleEvent`, as JSON. */
  besideBytes: 16 * 1024,
} as const

/** What a graph carries beside its document: kept with it, never planned. */
export interface BesideDocument {
  readonly layout?: unknown
  readonly sampleEvent?: unknown
}

/** Reports what stands beside the document and is too large: it would be read with the graph at every turn. */
export function checkBeside({ layout, sampleEvent }: BesideDocument, findings: Findings): void {
  for (const [field, value] of Object.entries({ layout, sampleEvent })) {
    if (value === undefined) continue
    const plain = toPlain(value)
    if (!plain.ok) {
      findings.error('document_invalid', `${field}: ${plain.error}`)
      continue
    }
    const bytes = Buffer.byteLength(JSON.stringify(value))
    if (bytes <= limits.besideBytes) continue
    findings.error(
      'limit_exceeded',
      `${field} has ${bytes} bytes as JSON, at most ${limits.besideBytes}: leave out what is not needed`,
    )
  }
}

/** Reports what is too large; false where there are more nodes or edges than paths are looked for in. */
export function checkLimits(plain: unknown, findings: Findings): boolean {
  let isSmall = true
  for (const list of ['nodes', 'edges'] as const) {
    const count = isJsonObject(plain) && Array.isArray(plain[list]) ? plain[list].length : 0
    if (count <= limits[list]) continue
    isSmall = false
    findings.error('limit_exceeded', `${count} ${list}, at most ${limits[list]}: split the graph in two`)
  }
  const bytes = Buffer.byteLength(JSON.stringify(plain))
  if (bytes > limits.documentBytes) {
    findings.error(
      'limit_exceeded',
      `the document has ${bytes} bytes as JSON, at most ${limits.documentBytes}: shorten prompts and schemas, or split the graph`,
    )
  }
  return isSmall
}
