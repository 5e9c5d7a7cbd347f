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

type Fields = Record<string, unknown>
/** A number, or numbers by the paths of properties: `{ "user.score": 2 }`. */
type Amount = number | Record<string, number>

/** Adds numbers to properties of a value, which are made where they are missing. */
function addTo(value: unknown, amounts: Record<string, number>, sign: number): Fields {
  const whole: Fields = Object(structuredClone(value))
  for (const [path, amount] of Object.entries(amounts)) {
    const names = path.split('.')
    const last = names.pop() ?? ''
    let at = whole
    for (const name of names) {
      const inner: Fields = Object(at[name])
      at[name] = inner
      at = inner
    }
    at[last] = (Number(at[last]) || 0) + sign * amount
  }
  return whole
}

const add = (key: string, amount: Amount, sign: number): Promise<unknown> =>
  inTurn(async () => {
    const before = await store.get(key)
    const next =
      typeof amount === 'number'
        ? (Number(before) || 0) + sign * amount
        : addTo(before, amount, sign)
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
  incr: (key: string, amount: Amount = 1) => add(key, amount, 1),
  decr: (key: string, amount: Amount = 1) => add(key, amount, -1),
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
