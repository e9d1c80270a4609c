/** `T` with every property and element readonly, to any depth: what a cache hands out. */
export type DeepReadonly<T> = T extends (...args: never[]) => unknown
  ? T
  : T extends (infer E)[]
    ? readonly DeepReadonly<E>[]
    : T extends object
      ? { readonly [K in keyof T]: DeepReadonly<T[K]> }
      : T

/** Freezes `value` and everything in it, and returns it. Tests freeze what they hand to pure functions. */
export function deepFreeze<T>(value: T): DeepReadonly<T> {
  const left: unknown[] = [value]
  while (left.length > 0) {
    const next = left.pop()
    if (typeof next !== 'object' || next === null || Object.isFrozen(next)) continue
    Object.freeze(next)
    for (const child of Object.values(next)) left.push(child)
  }
  return value as DeepReadonly<T>
}
