import { type Area, type Change, changesMax, type Saved } from './messages.ts'

/** Limit of an app's saves, in characters of keys and values. */
const charsMax = 1_048_576

/** The entries of one storage area. Calls `onChange` for every change, in order. */
class Entries extends Map<string, string> {
  #size = 0
  #onChange: (change: Change) => void = () => undefined

  constructor(saved: Saved, onChange: (change: Change) => void) {
    super()
    for (const [key, value] of saved) this.put(key, value)
    this.#onChange = onChange
  }

  put(key: string, value: string): void {
    const old = this.get(key)
    const size = this.#size + value.length - (old === undefined ? -key.length : old.length)
    if (size > charsMax)
      throw new DOMException(
        'The storage limit of 1 MB per app has been reached.',
        'QuotaExceededError',
      )
    this.#size = size
    this.set(key, value)
    if (old !== value) this.#onChange([key, value])
  }

  drop(key: string): void {
    const old = this.get(key)
    if (old === undefined) return
    this.#size -= key.length + old.length
    this.delete(key)
    this.#onChange([key, null])
  }
}

const areas = new WeakMap<object, Entries>()

function entriesOf(storage: object): Entries {
  const entries = areas.get(storage)
  if (!entries) throw new TypeError('Illegal invocation')
  return entries
}

/** Defines the methods on the prototype, where apps may call or replace them. */
function replaceMethods(): void {
  const methods = {
    getItem(this: object, key: string) {
      return entriesOf(this).get(String(key)) ?? null
    },
    setItem(this: object, key: string, value: string) {
      entriesOf(this).put(String(key), String(value))
    },
    removeItem(this: object, key: string) {
      entriesOf(this).drop(String(key))
    },
    clear(this: object) {
      for (const key of [...entriesOf(this).keys()]) entriesOf(this).drop(key)
    },
    key(this: object, index: number) {
      return [...entriesOf(this).keys()][Number(index) || 0] ?? null
    },
  }
  for (const [name, value] of Object.entries(methods)) {
    Object.defineProperty(Storage.prototype, name, { value, writable: true, configurable: true })
  }
  Object.defineProperty(Storage.prototype, 'length', {
    get(this: object) {
      return entriesOf(this).size
    },
    configurable: true,
  })
}

/**
 * Creates a Storage whose entries are also properties: `localStorage.best = 10`, `delete`, `in`.
 */
function storage(entries: Entries): Storage {
  const bare: Storage = Object.create(Storage.prototype)
  const own = (name: string | symbol): string | undefined =>
    typeof name === 'string' && !(name in Storage.prototype) ? entries.get(name) : undefined
  const made = new Proxy(bare, {
    get: (target, name, self) => own(name) ?? Reflect.get(target, name, self),
    has: (target, name) => own(name) !== undefined || Reflect.has(target, name),
    set(_, name, value: unknown) {
      if (typeof name === 'string') entries.put(name, String(value))
      return true
    },
    deleteProperty(_, name) {
      if (typeof name === 'string') entries.drop(name)
      return true
    },
    defineProperty(_, name, { value }) {
      if (typeof name === 'string') entries.put(name, String(value))
      return true
    },
    ownKeys: () => [...entries.keys()],
    getOwnPropertyDescriptor(_, name) {
      const value = own(name)
      if (value === undefined) return undefined
      return { value, writable: true, enumerable: true, configurable: true }
    },
  })
  areas.set(made, entries)
  return made
}

/**
 * Replaces localStorage and sessionStorage, which throw in an opaque origin. Reads come from
 * memory; the changes of one task go to the shell in one message.
 */
export function openStorage(
  saved: Record<Area, Saved>,
  save: (area: Area, changes: Change[]) => void,
): void {
  replaceMethods()
  const soon = queueMicrotask.bind(window)
  for (const area of ['local', 'session'] as const) {
    let waiting: Change[] = []
    const flush = (): void => {
      for (let at = 0; at < waiting.length; at += changesMax) {
        save(area, waiting.slice(at, at + changesMax))
      }
      waiting = []
    }
    const made = storage(
      new Entries(saved[area], (change) => {
        if (waiting.push(change) === 1) soon(flush)
      }),
    )
    Object.defineProperty(window, `${area}Storage`, { get: () => made, configurable: true })
  }
}
