import { field, type SavedDatabase } from './messages.ts'
import { promised } from './saves.ts'
import { databaseBytesMax, sizeOf } from './value-size.ts'

const databasesMax = 20
const nameCharsMax = 200
const writeMs = 200

/** The IndexedDB databases of one app, kept in this browser by app id like its saves. */
export interface SavedDatabases {
  all(): SavedDatabase[]
  /** Keeps what a message of the app says. */
  take(data: unknown): void
}

/** Returns a database of a message; undefined where it is no database. */
function databaseIn(data: unknown): SavedDatabase | undefined {
  const [name, version, stores] = ['name', 'version', 'stores'].map((part) => field(data, part))
  const isNamed = typeof name === 'string' && name.length <= nameCharsMax
  return isNamed && typeof version === 'number' && Array.isArray(stores)
    ? { name, version, stores }
    : undefined
}

/** Applies a message: a database as it is now, or the name of a deleted one. */
export function applyDatabase(databases: Map<string, SavedDatabase>, data: unknown): void {
  const database = databaseIn(field(data, 'database'))
  if (!database) {
    databases.delete(String(field(data, 'deleted')))
    return
  }
  const others = [...databases.values()].filter(({ name }) => name !== database.name)
  // The app counts too, but is not trusted.
  if (others.length >= databasesMax || sizeOf([...others, database]) > databaseBytesMax) return
  databases.set(database.name, database)
}

/** Opens the store. Without IndexedDB the databases live as long as the page. */
async function openStore(): Promise<IDBDatabase | undefined> {
  const request = indexedDB.open('databases', 1)
  request.onupgradeneeded = () => request.result.createObjectStore('apps')
  return promised(request).catch(() => undefined)
}

/** Opens the databases of an app. */
export async function openDatabases(id: string): Promise<SavedDatabases> {
  const stored = await openStore()
  const store = (mode: IDBTransactionMode): IDBObjectStore | undefined =>
    stored?.transaction('apps', mode).objectStore('apps')
  const from = store('readonly')
  const found: unknown = from && (await promised(from.get(id)).catch(() => undefined))
  const databases: Map<string, SavedDatabase> = found instanceof Map ? found : new Map()
  let timer = 0
  const write = (): void => {
    if (timer === 0) return
    clearTimeout(timer)
    timer = 0
    const to = store('readwrite')
    to?.put(databases, id)
    to?.transaction.commit()
  }
  addEventListener('pagehide', write)
  return {
    all: () => [...databases.values()],
    take(data) {
      applyDatabase(databases, data)
      if (timer === 0) timer = window.setTimeout(write, writeMs)
    },
  }
}
