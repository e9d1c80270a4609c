import { isJsonObject, type Json, type JsonObject, sameJson } from './json.ts'

/** The merge patch (RFC 7386) that makes `to` of `from`, with nothing in it that is the same in both. */
export function mergePatchBetween(from: Readonly<JsonObject>, to: Readonly<JsonObject>): JsonObject {
  const members = new Set([...Object.keys(from), ...Object.keys(to)])
  return Object.fromEntries(
    [...members].flatMap((member): [string, Json][] => {
      const [before, after] = [from[member], to[member]]
      if (sameJson(before ?? null, after ?? null)) return []
      if (isJsonObject(before) && isJsonObject(after)) return [[member, mergePatchBetween(before, after)]]
      return [[member, after ?? null]]
    }),
  )
}
