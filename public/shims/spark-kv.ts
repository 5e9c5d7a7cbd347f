/**
 * `spark.kv` and `useKV` of GitHub Spark over shared values of `service.store`: all people who open
 * an app see the same ones. Source: docs.github.com, "Spark", and public pages (November 2026).
 */
import { extend, failure, store } from './bridge-calls.ts'
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

type Change = (now: unknown) => unknown
type Send = () => Promise<unknown>

/** The value of a key, which all hooks of the page share. */
interface OpenedValue extends HookValue<unknown> {
  /** Shows a change at once, and sends it when the stored value is known. */
  change(make: Change, send: Send): void
}

const opened = new Map<string, OpenedValue>()
const earlyMax = 1_000
const tooMany = `At most ${earlyMax} changes wait for the stored value. Make fewer of them.`

function openValue(key: string, initial: unknown): OpenedValue {
  const known = opened.get(key)
  if (known) return known
  const value = createHookValue(initial)
  let state: 'reading' | 'read' | 'failed' = 'reading'
  const early: Change[] = []
  let sendLast: Send | undefined
  const begin = (stored: unknown): void => {
    state = 'read'
    // Early changes are made again, since the stored value is that of all players.
    if (stored !== null) value.set(early.reduce<unknown>((now, make) => make(now), stored))
    sendLast?.().catch(console.warn)
  }
  store.get(key, shared).then(begin, (error: unknown) => {
    // A change of an unknown value would replace that of all players, so none is sent.
    state = 'failed'
    console.warn(error)
  })
  const change = (make: Change, send: Send): void => {
    if (state === 'reading' && early.length >= earlyMax) throw failure('too_many_calls', tooMany)
    value.set(make(value.get()))
    if (state === 'read') send().catch(console.warn)
    if (state !== 'reading') return
    early.push(make)
    sendLast = send
  }
  const created = { ...value, change }
  opened.set(key, created)
  return created
}

/** `const [value, setValue, deleteValue] = useKV(key, initial)` of "@github/spark/hooks". */
provideHook(
  'service.spark.useKV',
  ({ useSyncExternalStore }) =>
    (key: string, initial: unknown) => {
      const value = openValue(key, initial)
      const save = (next: unknown): void =>
        value.change(
          (now) => (typeof next === 'function' ? next(now) : next),
          () => store.set(key, value.get(), shared),
        )
      const remove = (): void =>
        value.change(
          () => initial,
          () => store.delete(key, shared),
        )
      return [useSyncExternalStore(value.subscribe, value.get), save, remove]
    },
)
