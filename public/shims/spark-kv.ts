/**
 * `spark.kv` and `useKV` of GitHub Spark over shared values of `service.store`: all people who open
 * an app see the same ones. Source: docs.github.com, "Spark", and public pages (November 2026).
 */
import { extend, store } from './bridge-calls.ts'
import { createHookValue, type HookValue, provideHook } from './react-hooks.ts'

const shared = { shared: true }

extend('spark', {
  kv: Object.freeze({
    /** Returns undefined for a key without a value. */
    async get(key: string) {
      const value = await store.get(key, shared)
      return value === null ? undefined : value
    },
    set: (key: string, value: unknown) => store.set(key, value, shared),
    delete: async (key: string) => void (await store.delete(key, shared)),
    keys: () => store.list('', shared),
  }),
})

const opened = new Map<string, HookValue<unknown>>()

/** Opens the value of a key, which all hooks of the page share. The stored one comes later. */
function openValue(key: string, initial: unknown): HookValue<unknown> {
  const known = opened.get(key)
  if (known) return known
  const value = createHookValue(initial)
  opened.set(key, value)
  store.get(key, shared).then((stored) => {
    if (stored !== null && value.get() === initial) value.set(stored)
  }, console.warn)
  return value
}

/** `const [value, setValue, deleteValue] = useKV(key, initial)` of "@github/spark/hooks". */
provideHook(
  'service.spark.useKV',
  ({ useSyncExternalStore }) =>
    (key: string, initial: unknown) => {
      const value = openValue(key, initial)
      const save = (next: unknown): void => {
        const given: unknown = typeof next === 'function' ? next(value.get()) : next
        value.set(given)
        store.set(key, given, shared).catch(console.warn)
      }
      const remove = (): void => {
        value.set(initial)
        store.delete(key, shared).catch(console.warn)
      }
      return [useSyncExternalStore(value.subscribe, value.get), save, remove]
    },
)
