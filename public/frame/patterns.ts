/** Regular expressions of the guard, independent of changes to RegExp.prototype. */
const { apply } = Reflect
const replaced = String.prototype.replace
const { exec, test: tested, [Symbol.replace]: replace } = RegExp.prototype

/** Copies everything that the engine reads from the prototype onto a pattern. */
export function own(pattern: RegExp): RegExp {
  const { flags, global, unicode, unicodeSets, sticky } = pattern
  const requested = { exec, flags, global, unicode, unicodeSets, sticky, [Symbol.replace]: replace }
  for (const name of Reflect.ownKeys(requested)) {
    Object.defineProperty(pattern, name, { value: Reflect.get(requested, name) })
  }
  return pattern
}

export const test = (pattern: RegExp, value: string): boolean => {
  pattern.lastIndex = 0
  return apply(tested, pattern, [value])
}

export const swap = (value: string, pattern: RegExp, by: string): string =>
  apply(replaced, value, [pattern, by])
