/** IndexedDB in memory, for pages that use it: runs after the boot script. */
import {
  IDBCursor,
  IDBCursorWithValue,
  IDBDatabase,
  IDBFactory,
  IDBIndex,
  IDBKeyRange,
  IDBObjectStore,
  IDBOpenDBRequest,
  IDBRequest,
  IDBTransaction,
  IDBVersionChangeEvent,
} from 'fake-indexeddb'

import { listen } from './listen.ts'
import { field, type SavedDatabase, type SavedStore } from './messages.ts'
import { put } from './quiet.ts'
import { shellAbove } from './shell-window.ts'
import { databaseBytesMax, sizeOf } from './value-size.ts'

const restoreMs = 3_000
const saveMs = 200

/** Returns a part of an object of the library, which has no types for its inside. */
const inside = (owner: unknown, name: string): unknown => field(owner, name)
const mapIn = (owner: unknown, name: string): Map<unknown, unknown> => {
  const found = inside(owner, name)
  if (!(found instanceof Map)) throw new Error(`no ${name}`)
  return found
}

/** Returns the records of a raw store as keys and values. */
function recordsOf(store: unknown): [key: unknown, value: unknown][] {
  const records = inside(store, 'records')
  const values = inside(records, 'values')
  const found: unknown = typeof values === 'function' ? Reflect.apply(values, records, []) : []
  return [...Array.from(Object(found))].map((record) => [
    field(record, 'key'),
    field(record, 'value'),
  ])
}

/** Returns a raw database as it is saved. */
function saved(database: unknown): SavedDatabase {
  const stores = [...mapIn(database, 'rawObjectStores')].map(([name, store]): SavedStore => {
    const indexes = [...mapIn(store, 'rawIndexes').values()].map((index) => ({
      name: String(field(index, 'name')),
      keyPath: field(index, 'keyPath'),
      unique: field(index, 'unique') === true,
      multiEntry: field(index, 'multiEntry') === true,
    }))
    return {
      name: String(name),
      keyPath: field(store, 'keyPath'),
      autoIncrement: field(store, 'autoIncrement') === true,
      next: Number(field(inside(store, 'keyGenerator'), 'num')) || 0,
      indexes,
      records: recordsOf(store),
    }
  })
  const [name, version] = [String(field(database, 'name')), Number(field(database, 'version'))]
  return { name, version, stores }
}

const isPath = (path: unknown): path is string | string[] =>
  typeof path === 'string' || Array.isArray(path)

/** Builds a saved database in a factory of its own and moves it into another. */
async function restore(into: IDBFactory, database: SavedDatabase): Promise<void> {
  const factory = new IDBFactory()
  await new Promise<void>((resolve, reject) => {
    const request = factory.open(database.name, database.version)
    request.onerror = () => reject(request.error)
    request.onsuccess = () => {
      request.result.close()
      resolve()
    }
    request.onupgradeneeded = () => {
      for (const { name, keyPath, autoIncrement, indexes, records } of database.stores) {
        const path = isPath(keyPath) ? keyPath : null
        const store = request.result.createObjectStore(name, { keyPath: path, autoIncrement })
        for (const { keyPath: of, unique, multiEntry, ...index } of indexes) {
          if (isPath(of)) store.createIndex(index.name, of, { unique, multiEntry })
        }
        for (const [key, value] of records) {
          if (path === null) Reflect.apply(store.put, store, [value, key])
          else store.put(value)
        }
      }
    }
  })
  const raw = mapIn(factory, '_databases').get(database.name)
  for (const { name, next } of database.stores) {
    const generator = inside(mapIn(raw, 'rawObjectStores').get(name), 'keyGenerator')
    if (typeof generator === 'object' && generator) Reflect.set(generator, 'num', next)
  }
  mapIn(into, '_databases').set(database.name, raw)
}

/** Saves the databases that transactions change, all those of a moment at once. */
function watchChanges(factory: IDBFactory, post: (message: object) => void): void {
  const changed = new Set<unknown>()
  let used = 0
  const measure = (): void => {
    used = sizeOf([...mapIn(factory, '_databases').values()].map(saved))
  }
  const save = (): void => {
    for (const raw of changed) post({ type: 'service:database', database: saved(raw) })
    if (changed.size > 0) measure()
    changed.clear()
  }
  const { transaction } = IDBDatabase.prototype
  put(IDBDatabase.prototype, 'transaction', function (this: IDBDatabase, ...given: unknown[]) {
    const made: IDBTransaction = Reflect.apply(transaction, this, given)
    if (made.mode !== 'readonly') {
      made.addEventListener('complete', () => {
        if (changed.size === 0) setTimeout(save, saveMs)
        changed.add(inside(this, '_rawDatabase'))
      })
    }
    return made
  })
  listen('pagehide', save)
  for (const name of ['put', 'add'] as const) {
    const real = IDBObjectStore.prototype[name]
    put(IDBObjectStore.prototype, name, function (this: IDBObjectStore, ...given: unknown[]) {
      const size = sizeOf(given)
      if (used + size > databaseBytesMax) measure()
      if (used + size > databaseBytesMax) {
        throw new DOMException('The limit of 5 MB per app has been reached.', 'QuotaExceededError')
      }
      used += size
      return Reflect.apply(real, this, given)
    })
  }
  const { deleteDatabase } = IDBFactory.prototype
  put(factory, 'deleteDatabase', (name: string) => {
    const request = Reflect.apply(deleteDatabase, factory, [name])
    request.addEventListener('success', () => post({ type: 'service:database', deleted: name }))
    return request
  })
}

/** Installs IndexedDB. The first use waits for the databases that the viewer has kept. */
function openDatabases(shell: Window, run: number): void {
  const factory = new IDBFactory()
  const post = (message: object): void => shell.postMessage({ ...message, run }, '*')
  let restored: Promise<void> | undefined
  const restoreAll = (): Promise<void> =>
    (restored ??= new Promise((resolve) => {
      setTimeout(resolve, restoreMs)
      const take = (event: MessageEvent): void => {
        const list = field(event.data, 'databases')
        if (event.source !== shell || !Array.isArray(list)) return
        event.stopImmediatePropagation()
        void Promise.allSettled(list.map((one) => restore(factory, one))).then(() => resolve())
      }
      listen('message', take, { capture: true })
      post({ type: 'service:databases' })
    }))
  watchChanges(factory, post)
  const { open, databases } = IDBFactory.prototype
  put(factory, 'open', (...given: [string, number?]) => {
    const queues = mapIn(factory, '_connectionQueues')
    const name = String(given[0])
    if (!queues.has(name)) queues.set(name, restoreAll())
    return Reflect.apply(open, factory, given)
  })
  put(factory, 'databases', async () => {
    await restoreAll()
    return Reflect.apply(databases, factory, [])
  })
  const classes = {
    IDBCursor,
    IDBCursorWithValue,
    IDBDatabase,
    IDBFactory,
    IDBIndex,
    IDBKeyRange,
    IDBObjectStore,
    IDBOpenDBRequest,
    IDBRequest,
    IDBTransaction,
    IDBVersionChangeEvent,
  }
  for (const [name, value] of Object.entries(classes)) put(window, name, value)
  put(window, 'indexedDB', factory)
}

const script = document.currentScript
script?.remove()
if (script) {
  const { depth, run } = script.dataset
  openDatabases(shellAbove(Number(depth)), Number(run))
}
