/** What tests draw anew each time. GRAPHWRIGHT_SEED draws the same again; a title with the seed says which. */
export const seed = Number(process.env.GRAPHWRIGHT_SEED ?? Date.now() % 1_000_000)

/** Numbers from 0 to 1, the same for the same seed (mulberry32). */
export function random(start: number = seed): () => number {
  let state = start
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
}
