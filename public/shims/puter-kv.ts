/**
 * `puter.kv` over `service.store`: values of the player. Source: docs.puter.com/KV, as of November
 * 2026.
 */
import { field } from '../frame/messages.ts'
import { extend, store } from './bridge-calls.ts'
import { filePrefix } from './puter-files.ts'

/** The last call of each key that has one. */
const running = new Map<string, Promise<unknown>>()

/** Runs the calls of a key one after another, as they depend on its stored value. */
function inTurn<Result>(key: string, work: () => Promise<Result>): Promise<Result> {
  const run = Promise.resolve(running.get(key)).then(work)
  const ended = run
    .catch(() => undefined)
    .then(() => {
      if (running.get(key) === ended) running.delete(key)
    })
  running.set(key, ended)
  return run
}

/** A value that ends: the field has the time, in seconds. */
const expiresField = 'puter:expires'
/** Keys that say which values end, so that lists leave these out. */
const markPrefix = 'puter.expires:'
const seconds = (): number => Date.now() / 1_000

interface Entry {
  value: unknown
  /** The time at which it ends, unless it has ended. */
  expires?: number
}

function entryIn(stored: unknown): Entry {
  const expires = field(stored, expiresField)
  if (typeof expires !== 'number') return { value: stored }
  return expires > seconds() ? { value: field(stored, 'value') ?? null, expires } : { value: null }
}

/** A key that is too long with the prefix has no mark. */
const unmark = (key: string): Promise<unknown> =>
  store.delete(markPrefix + key).catch(() => undefined)

const remove = (key: string): Promise<unknown> => Promise.all([store.delete(key), unmark(key)])

/** Returns the value of a key; null for one that has ended. */
const get = (key: string): Promise<unknown> =>
  inTurn(key, async () => {
    const stored = await store.get(key)
    const { value } = entryIn(stored)
    if (value === null && stored !== null) await remove(key)
    return value
  })

/** Sets a value with its mark, or without an end and a mark. */
async function set(key: string, value: unknown, expires?: number): Promise<void> {
  if (expires === undefined) {
    await Promise.all([store.set(key, value), unmark(key)])
  } else {
    await store.set(key, { [expiresField]: expires, value })
    await store.set(markPrefix + key, true)
  }
}

/** Changes a value, which ends when it did before. Returns it. */
const change = (key: string, make: (value: unknown) => unknown, ttl?: number): Promise<unknown> =>
  inTurn(key, async () => {
    const stored = await store.get(key)
    const { value: before, expires: known } = entryIn(stored)
    const value = make(before)
    const expires = ttl === undefined ? known : seconds() + ttl
    const hasMark = field(stored, expiresField) !== undefined
    if (expires === undefined && !hasMark) await store.set(key, value)
    else await set(key, value, expires)
    return value
  })

/** Returns the keys that begin with a prefix. Files of the player are no values. */
async function keysOf(prefix = ''): Promise<string[]> {
  const keys = await store.list(prefix)
  const ended = new Set<string>()
  for (const mark of await store.list(markPrefix + prefix)) {
    const key = mark.slice(markPrefix.length)
    if ((await get(key)) === null) ended.add(key)
  }
  return keys.filter(
    (key) => !key.startsWith(filePrefix) && !key.startsWith(markPrefix) && !ended.has(key),
  )
}

type Fields = Record<string, unknown>
/** Values by the paths of properties: `{ "user.score": 2 }`. */
type ByPath = Record<string, unknown>

/** Changes properties of a value by their paths, which are made where they are missing. */
function changePaths(
  value: unknown,
  paths: [path: string, make: (before: unknown) => unknown][],
): Fields {
  const whole: Fields = Object(structuredClone(value))
  for (const [path, make] of paths) {
    const names = path.split('.')
    const last = names.pop() ?? ''
    let at = whole
    for (const name of names) {
      const inner: Fields = Object(at[name])
      at[name] = inner
      at = inner
    }
    const next = make(at[last])
    if (next === undefined) delete at[last]
    else at[last] = next
  }
  return whole
}

/** Changes a whole number or list, or those at paths, by amounts or items. */
const combine = (
  key: string,
  given: unknown,
  join: (before: unknown, one: unknown) => unknown,
): Promise<unknown> =>
  change(key, (before) =>
    isPaths(given)
      ? changePaths(
          before,
          Object.entries(given).map(([path, one]) => [path, (value) => join(value, one)]),
        )
      : join(before, given),
  )

const isPaths = (value: unknown): value is ByPath =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const addNumber =
  (sign: number) =>
  (before: unknown, amount: unknown): number =>
    (Number(before) || 0) + sign * Number(amount)

const append = (before: unknown, items: unknown): unknown[] => [before ?? [], items].flat()

interface ListOptions {
  pattern?: string
  returnValues?: boolean
  limit?: number
  cursor?: string
}

/** Returns a page of keys, or of keys with values; the cursor is the last key of a page. */
async function listPage({ pattern = '', returnValues = false, limit, cursor = '' }: ListOptions) {
  const keys = (await keysOf(pattern.replace(/\*$/, ''))).filter((key) => key > cursor)
  const page = keys.toSorted().slice(0, limit)
  const items = returnValues ? await withValuesOf(page) : page
  return { items, ...(page.length < keys.length && { cursor: page.at(-1) }) }
}

const withValuesOf = (keys: string[]) =>
  Promise.all(keys.map(async (key) => ({ key, value: await get(key) })))

const kv = Object.freeze({
  async set(key: string, value: unknown, expiresAt?: number) {
    await inTurn(key, () => set(key, value, expiresAt))
    return true
  },
  get,
  async del(key: string) {
    await inTurn(key, () => remove(key))
    return true
  },
  incr: (key: string, amount: unknown = 1) => combine(key, amount, addNumber(1)),
  decr: (key: string, amount: unknown = 1) => combine(key, amount, addNumber(-1)),
  /** Appends to a list, or to lists at paths. */
  add: (key: string, items: unknown) => combine(key, items, append),
  update: (key: string, values: ByPath, ttl?: number) =>
    change(
      key,
      (before) =>
        changePaths(
          before,
          Object.entries(values).map(([path, value]) => [path, () => value]),
        ),
      ttl,
    ),
  remove: (key: string, ...paths: string[]) =>
    change(key, (before) =>
      changePaths(
        before,
        paths.flat().map((path) => [path, () => undefined]),
      ),
    ),
  async expire(key: string, ttl: number) {
    await change(key, (value) => value, ttl)
    return true
  },
  async expireAt(key: string, timestamp: number) {
    await change(key, (value) => value, timestamp - seconds())
    return true
  },
  /** `pattern` ends in an asterisk. With `true`, also alone, it returns keys with values. */
  async list(pattern: string | boolean | ListOptions = '', withValues = false) {
    if (typeof pattern === 'object') {
      const page = await listPage(pattern)
      return pattern.limit === undefined && pattern.cursor === undefined ? page.items : page
    }
    const prefix = typeof pattern === 'string' ? pattern.replace(/\*$/, '') : ''
    const keys = await keysOf(prefix)
    return withValues || pattern === true ? withValuesOf(keys) : keys
  },
  async flush() {
    const keys = [...(await keysOf()), ...(await store.list(markPrefix))]
    for (const key of keys) await inTurn(key, () => store.delete(key))
    return true
  },
})

extend('puter', { kv })
