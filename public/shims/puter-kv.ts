/**
 * `puter.kv` over `service.store`: values of the player. Source: docs.puter.com/KV, as of November
 * 2026.
 */
import { extend, store } from './bridge-calls.ts'
import { filePrefix } from './puter-files.ts'

let last: Promise<unknown> = Promise.resolve()

/** Runs changes that depend on the stored value one after another. */
function inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
  const run = last.then(work)
  last = run.catch(() => undefined)
  return run
}

/** Returns the keys that begin with a prefix. Files of the player are no values. */
const keysOf = async (prefix = ''): Promise<string[]> =>
  (await store.list(prefix)).filter((key) => !key.startsWith(filePrefix))

const add = (key: string, amount: number): Promise<number> =>
  inTurn(async () => {
    const next = (Number(await store.get(key)) || 0) + amount
    await store.set(key, next)
    return next
  })

const kv = Object.freeze({
  async set(key: string, value: unknown) {
    await store.set(key, value)
    return true
  },
  get: (key: string) => store.get(key),
  async del(key: string) {
    await store.delete(key)
    return true
  },
  incr: (key: string, amount = 1) => add(key, amount),
  decr: (key: string, amount = 1) => add(key, -amount),
  /** `pattern` ends in an asterisk. With `true`, also alone, it returns keys with values. */
  async list(pattern: string | boolean = '', withValues = false) {
    const prefix = typeof pattern === 'string' ? pattern.replace(/\*$/, '') : ''
    const keys = await keysOf(prefix)
    if (!withValues && pattern !== true) return keys
    return Promise.all(keys.map(async (key) => ({ key, value: await store.get(key) })))
  },
  async flush() {
    for (const key of await keysOf()) await store.delete(key)
    return true
  },
})

extend('puter', { kv })
