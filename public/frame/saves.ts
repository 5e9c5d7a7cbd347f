import { answersMax, type Change, changesMax, type DialogResult, type Saved } from './messages.ts'

const charsMax = 1_048_576
const writeMs = 200

/**
 * The saves of one app, stored in this browser by app id, so that a new version finds them. A
 * preview of a version has separate saves.
 */
export interface Saves {
  all(): Saved
  change(changes: Change[]): void
}

export const promised = <T>(request: IDBRequest<T>): Promise<T> =>
  new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result)
    request.onerror = () => reject(request.error)
  })

const isCommitted = ({ transaction }: IDBObjectStore): Promise<boolean> =>
  new Promise((resolve) => {
    transaction.oncomplete = () => resolve(true)
    transaction.onabort = () => resolve(false)
  })

async function openDatabase(): Promise<IDBDatabase> {
  const request = indexedDB.open('saves')
  request.onupgradeneeded = () => request.result.createObjectStore('apps')
  return promised(request)
}

/** Applies changes up to a limit of characters, without trusting the app's own count. */
export function apply(entries: Map<string, string>, changes: Change[], max = charsMax): void {
  let size = 0
  for (const [key, value] of entries) size += key.length + value.length
  for (const [key, value] of changes) {
    const old = entries.get(key)
    const without = size - (old === undefined ? 0 : key.length + old.length)
    const next = value === null ? without : without + key.length + value.length
    if (next > max) continue
    size = next
    if (value === null) entries.delete(key)
    else entries.set(key, value)
  }
}

/**
 * The changes of pages that closed before they stored them, in localStorage: what a closing page
 * writes to IndexedDB can end with it. The next page that writes takes them over.
 */
class Journal {
  readonly #key: string

  constructor(id: string) {
    this.#key = `saves:${id}`
  }

  read(): { text: string | null; changes: Change[] } {
    try {
      const text = localStorage.getItem(this.#key)
      return { text, changes: changesIn(JSON.parse(String(text)), Infinity) }
    } catch {
      return { text: null, changes: [] }
    }
  }

  /** Returns whether the changes fit. */
  add(changes: Change[]): boolean {
    const all = new Map([...this.read().changes, ...changes])
    try {
      localStorage.setItem(this.#key, JSON.stringify([...all]))
      return true
    } catch {
      return false
    }
  }

  /** Removes what was read, unless another page has added to it. */
  remove(text: string | null): void {
    if (text !== null && this.read().text === text) localStorage.removeItem(this.#key)
  }
}

/** Opens an app's saves of `max` characters. Without IndexedDB they live as long as the page. */
export async function openSaves(id: string, max = charsMax): Promise<Saves> {
  const database = await openDatabase().catch(() => null)
  const journal = new Journal(id)
  const store = (mode: IDBTransactionMode): IDBObjectStore | undefined =>
    database?.transaction('apps', mode).objectStore('apps')
  const read = async (from: IDBObjectStore | undefined): Promise<Map<string, string>> => {
    const found: unknown = from && (await promised(from.get(id)).catch(() => null))
    return found instanceof Map ? found : new Map()
  }
  const entries = await read(store('readonly'))
  const { changes: left } = journal.read()
  apply(entries, left, max)
  let waiting: Change[] = []
  const writing: Change[] = []
  let timer = 0

  // Read before writing: another tab may have saved other keys.
  const write = async (): Promise<void> => {
    const changes = waiting
    waiting = []
    timer = 0
    const to = store('readwrite')
    if (!to) return
    writing.push(...changes)
    const { text, changes: closed } = journal.read()
    const kept = await read(to)
    apply(kept, [...closed, ...changes], max)
    to.put(kept, id)
    if (await isCommitted(to)) journal.remove(text)
    writing.splice(0, changes.length)
  }
  if (left.length > 0) void write()
  // With a listener here, Firefox asks the page and its frames before it starts to leave. Without
  // one, the page can be gone before the last changes of the app arrive.
  onbeforeunload = () => null
  addEventListener('pagehide', () => {
    const changes = [...writing, ...waiting]
    waiting = []
    if (!database || changes.length === 0 || journal.add(changes)) return
    const to = store('readwrite')
    to?.put(entries, id)
    to?.transaction.commit()
  })
  return {
    all: () => [...entries],
    change(changes) {
      apply(entries, changes, max)
      waiting.push(...changes)
      if (timer === 0) timer = window.setTimeout(() => void write(), writeMs)
    },
  }
}

/** Validates answers: a bounded list of pairs of texts. */
export const answersIn = (data: unknown): DialogResult[] =>
  changesIn(data)
    .flatMap(([question, text]): DialogResult[] => (text === null ? [] : [[question, text]]))
    .slice(0, answersMax)

/** Validates changes: a bounded list of pairs of texts. */
export function changesIn(data: unknown, max = changesMax): Change[] {
  if (!Array.isArray(data)) return []
  return data.slice(0, max).flatMap((pair: unknown): Change[] => {
    if (!Array.isArray(pair)) return []
    const [key, value]: unknown[] = pair
    if (typeof key !== 'string' || (typeof value !== 'string' && value !== null)) return []
    return [[key, value]]
  })
}
