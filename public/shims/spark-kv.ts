/**
 * `spark.kv` of GitHub Spark over shared values of `service.store`: all people who open an app see
 * the same ones. Source: docs.github.com, "Spark", as of November 2026.
 */
import { extend, store } from './bridge-calls.ts'

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
