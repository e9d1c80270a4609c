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
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value)
    for (const child of Object.values(value)) deepFreeze(child)
  }
  return value as DeepReadonly<T>
}
