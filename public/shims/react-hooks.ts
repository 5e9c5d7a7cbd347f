/** The hooks of the page's own React that the hooks of other hosts need. */
export interface ReactHooks {
  useSyncExternalStore<Value>(
    subscribe: (next: () => void) => () => void,
    getSnapshot: () => Value,
  ): Value
}

/** A value that hooks read, and that changes. */
export interface HookValue<Value> {
  subscribe(next: () => void): () => void
  get(): Value
  set(value: Value): void
}

export function createHookValue<Value>(initial: Value): HookValue<Value> {
  let value = initial
  const listeners = new Set<() => void>()
  return {
    subscribe(next) {
      listeners.add(next)
      return () => void listeners.delete(next)
    },
    get: () => value,
    set(next) {
      value = next
      for (const listener of [...listeners]) listener()
    },
  }
}

/** Gives the modules of src/apps/libraries/host-modules.ts a function that makes a hook. */
export const provideHook = (key: string, create: (react: ReactHooks) => unknown): void => {
  Object.defineProperty(window, Symbol.for(key), { value: create })
}
