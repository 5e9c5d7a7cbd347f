import { type Change, changesMax, type Saved } from './messages.ts'

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

const promised = <T>(request: IDBRequest<T>): Promise<T> =>
  new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result)
    request.onerror = () => reject(request.error)
  })

async function openDatabase(): Promise<IDBDatabase> {
  const request = indexedDB.open('saves', 1)
  request.onupgradeneeded = () => request.result.createObjectStore('apps')
  return promised(request)
}

/** Applies changes up to 1 MB, without trusting the app's own count. */
export function apply(entries: Map<string, string>, changes: Change[]): void {
  let size = 0
  for (const [key, value] of entries) size += key.length + value.length
  for (const [key, value] of changes) {
    const old = entries.get(key)
    const without = size - (old === undefined ? 0 : key.length + old.length)
    const next = value === null ? without : without + key.length + value.length
    if (next > charsMax) continue
    size = next
    if (value === null) entries.delete(key)
    else entries.set(key, value)
  }
}

/** Opens an app's saves. Without IndexedDB they live as long as the page. */
export async function openSaves(id: string): Promise<Saves> {
  const database = await openDatabase().catch(() => null)
  const store = (mode: IDBTransactionMode): IDBObjectStore | undefined =>
    database?.transaction('apps', mode).objectStore('apps')
  const read = async (from: IDBObjectStore | undefined): Promise<Map<string, string>> => {
    const found: unknown = from && (await promised(from.get(id)).catch(() => null))
    return found instanceof Map ? found : new Map()
  }
  const entries = await read(store('readonly'))
  let waiting: Change[] = []
  let timer = 0

  // Read before writing: another tab may have saved other keys.
  const write = async (): Promise<void> => {
    clearTimeout(timer)
    const changes = waiting
    waiting = []
    timer = 0
    const to = changes.length > 0 ? store('readwrite') : undefined
    if (!to) return
    const kept = await read(to)
    apply(kept, changes)
    to.put(kept, id)
  }
  addEventListener('pagehide', () => {
    if (waiting.length === 0) return
    waiting = []
    // A closing page gets no events, so write everything at once without reading.
    const to = store('readwrite')
    to?.put(entries, id)
    to?.transaction.commit()
  })
  return {
    all: () => [...entries],
    change(changes) {
      apply(entries, changes)
      waiting.push(...changes)
      if (timer === 0) timer = window.setTimeout(() => void write(), writeMs)
    },
  }
}

/** Validates changes: a bounded list of pairs of texts. */
export function changesIn(data: unknown): Change[] {
  if (!Array.isArray(data)) return []
  return data.slice(0, changesMax).flatMap((pair: unknown): Change[] => {
    if (!Array.isArray(pair)) return []
    const [key, value]: unknown[] = pair
    if (typeof key !== 'string' || (typeof value !== 'string' && value !== null)) return []
    return [[key, value]]
  })
}
