import { answersMax, type Change, changesMax, type DialogResult } from './messages.ts'

export const charsMax = 1_048_576

export const promised = <T>(request: IDBRequest<T>): Promise<T> =>
  new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result)
    request.onerror = () => reject(request.error)
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

/** The saves of an app as they were when its page opened. */
export interface StoredSaves {
  id: string
  /** The store; undefined without IndexedDB. */
  apps(mode: IDBTransactionMode): IDBObjectStore | undefined
  entries: Map<string, string>
  /** Changes of an earlier page that are only in its journal. */
  left: Change[]
}

export const journalKey = (id: string): string => `saves:${id}`

/**
 * Returns the changes of pages that closed before they stored them, in localStorage: what a closing
 * page writes to IndexedDB can end with it. The next page that writes takes them over.
 */
export function readJournal(id: string): { text: string | null; changes: Change[] } {
  try {
    const text = localStorage.getItem(journalKey(id))
    return { text, changes: changesIn(JSON.parse(String(text)), Infinity) }
  } catch {
    return { text: null, changes: [] }
  }
}

/** Returns the entries of an app in its store. */
export async function readEntries(
  from: IDBObjectStore | undefined,
  id: string,
): Promise<Map<string, string>> {
  const found: unknown = from && (await promised(from.get(id)).catch(() => null))
  return found instanceof Map ? found : new Map()
}

/** Reads an app's saves of `max` characters. Without IndexedDB they live as long as the page. */
export async function readSaves(id: string, max = charsMax): Promise<StoredSaves> {
  const database = await openDatabase().catch(() => null)
  const apps = (mode: IDBTransactionMode): IDBObjectStore | undefined =>
    database?.transaction('apps', mode).objectStore('apps')
  const entries = await readEntries(apps('readonly'), id)
  const { changes: left } = readJournal(id)
  apply(entries, left, max)
  return { id, apps, entries, left }
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
