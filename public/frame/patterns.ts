/** Patterns that the guard looks with: what the app makes of RegExp.prototype is not asked. */
const { apply } = Reflect
const replaced = String.prototype.replace
const { exec, test: tested, [Symbol.replace]: replace } = RegExp.prototype

/** Gives a pattern everything of its own that the engine would ask the prototype for. */
export function own(pattern: RegExp): RegExp {
  const { flags, global, unicode, unicodeSets, sticky } = pattern
  const asked = { exec, flags, global, unicode, unicodeSets, sticky, [Symbol.replace]: replace }
  for (const name of Reflect.ownKeys(asked)) {
    Object.defineProperty(pattern, name, { value: Reflect.get(asked, name) })
  }
  return pattern
}

export const test = (pattern: RegExp, value: string): boolean => {
  pattern.lastIndex = 0
  return apply(tested, pattern, [value])
}

export const swap = (value: string, pattern: RegExp, by: string): string =>
  apply(replaced, value, [pattern, by])
