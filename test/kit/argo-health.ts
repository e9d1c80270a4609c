import { readFileSync } from 'node:fs'
import { load } from 'js-yaml'
import { LuaFactory } from 'wasmoon'
import { isJsonObject, type Json } from '../../src/lib/json.ts'

/** What Argo CD shows of an object. */
export interface Health {
  readonly status: string
  readonly message: string
}

const file = new URL('../../manifests/argocd/health.yaml', import.meta.url)
const prefix = 'resource.customizations.health.'

/** The scripts that are shipped, by `group_Kind`. */
export function healthScripts(): ReadonlyMap<string, string> {
  const { data } = load(readFileSync(file, 'utf8')) as { data: Record<string, string> }
  return new Map(Object.entries(data).map(([key, script]) => [key.slice(prefix.length), script]))
}

/** Runs the script of the object's kind on it, as Argo CD does: nothing but the object and the plain parts of Lua. */
export async function healthOf(object: { readonly apiVersion: string; readonly kind: string }): Promise<Health> {
  const script = healthScripts().get(`${object.apiVersion.split('/')[0]}_${object.kind}`)
  if (script === undefined) throw new Error(`there is no script for ${object.kind}`)
  const lua = await new LuaFactory().createEngine()
  try {
    lua.global.set('script', script)
    const plain = '{ obj = obj, ipairs = ipairs, pairs = pairs, table = table, string = string }'
    const answer: unknown = await lua.doString(`
      local obj = ${luaOf(JSON.parse(JSON.stringify(object)) as Json)}
      local hs = assert(load(script, "script", "t", ${plain}))()
      return hs.status .. "\\n" .. hs.message`)
    const [status = '', ...message] = String(answer).split('\n')
    return { status, message: message.join('\n') }
  } finally {
    lua.global.close()
  }
}

/** A value as Lua writes it; null is nil, as everything absent. */
function luaOf(value: Json): string {
  if (value === null) return 'nil'
  if (typeof value === 'string')
    return `"${[...Buffer.from(value)].map((byte) => `\\${String(byte).padStart(3, '0')}`).join('')}"`
  if (typeof value !== 'object') return String(value)
  if (!isJsonObject(value)) return `{ ${value.map(luaOf).join(', ')} }`
  return `{ ${Object.entries(value)
    .map(([key, child]) => `[${luaOf(key)}] = ${luaOf(child)}`)
    .join(', ')} }`
}
