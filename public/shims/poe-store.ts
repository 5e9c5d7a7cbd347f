/**
 * `Poe.setupStore` of apps of Poe: tables that all players of an app share, over `service.db`. A
 * mutator runs in the page, and again where another player has changed what it read. Source: the
 * documentation of Poe's platform of apps, "SyncedStoreClient API Reference" (November 2026).
 */
import type { BatchWrite } from '../bridge/documents.ts'
import { field } from '../frame/messages.ts'
import { db, extend, failure } from './bridge-calls.ts'
import { type Entry, type Reader, type Row, rowPath, watchTables } from './poe-tables.ts'

/** A read of a page, or a change with the input of a call. */
type Run<Result> = (context: object, input?: unknown) => Promise<Result>

interface StoreConfig {
  mutators?: Record<string, Run<unknown>>
}

let player: Promise<{ id: string }> | undefined

/** Returns the player, who is asked once. */
function findPlayer(): Promise<{ id: string }> {
  const found = (player ??= db.me())
  found.catch(() => void (player = undefined))
  return found
}

const entryList = (read: () => Promise<Entry[]>) => ({
  toArray: read,
  async *[Symbol.asyncIterator]() {
    yield* await read()
  },
})

/** Writes rows of tables. */
interface Writer {
  write(collection: string, key: string, row: Row | null): void
}

/** Returns the context that a read or a mutator gets. */
function contextOf(userId: string, reader: Reader, writer?: Writer) {
  const write = (collection: string, key: unknown, row: Row | null): void => {
    if (!writer) throw failure('bad_request', 'A query only reads. Write in a mutator.')
    writer.write(collection, String(key), row)
  }
  const openTable = (collection: string) => ({
    get: async (key: string) => (await reader.find(collection, key))?.value,
    has: async (key: string) => (await reader.find(collection, key)) !== undefined,
    entries: () => entryList(() => reader.list(collection)),
    set: async ({ itemKey, value }: { itemKey: string; value: unknown }): Promise<void> =>
      write(collection, itemKey, { value }),
    delete: async (key: string): Promise<void> => write(collection, key, null),
  })
  return {
    userId,
    isServer: false,
    table: (name: string) => openTable(name),
    privateOfUser: (id: string) => ({
      table: (name: string) => openTable(`data/users/${id}/${name}/rows`),
    }),
    serverOnly(): never {
      throw failure('unavailable', 'This app runs without the server of Poe.')
    },
  }
}

const rowIn = (data: object | undefined): Row | undefined =>
  data && { value: field(data, 'value') ?? null }

/** A mutation while it runs: what it read, with the versions, and what it writes. */
class Change implements Reader, Writer {
  readonly #read = new Map<string, number>()
  readonly #written = new Map<string, Map<string, Row | null>>()

  async find(collection: string, key: string): Promise<Row | undefined> {
    const written = this.#written.get(collection)?.get(key)
    if (written !== undefined) return written ?? undefined
    const path = rowPath(collection, key)
    const stored = await db.doc(path).get()
    this.#read.set(path, stored.version ?? 0)
    return rowIn(stored.data())
  }

  async list(collection: string): Promise<Entry[]> {
    const { docs } = await db.collection(collection).get()
    const rows = new Map<string, Row | null>()
    for (const doc of docs) {
      this.#read.set(doc.path, doc.version ?? 0)
      rows.set(decodeURIComponent(doc.id), rowIn(doc.data()) ?? null)
    }
    for (const [key, row] of this.#written.get(collection) ?? []) rows.set(key, row)
    return [...rows].flatMap(([key, row]): Entry[] => (row ? [[key, row.value]] : []))
  }

  write(collection: string, key: string, row: Row | null): void {
    const rows = this.#written.get(collection) ?? new Map<string, Row | null>()
    this.#written.set(collection, rows.set(key, row))
  }

  async commit(): Promise<void> {
    const writes = [...this.#written].flatMap(([collection, rows]) =>
      [...rows].map(([key, row]): BatchWrite => {
        const path = rowPath(collection, key)
        return row === null ? { op: 'delete', path } : { op: 'set', path, data: { ...row } }
      }),
    )
    if (writes.length === 0) return
    const checks = [...this.#read].map(([path, version]): BatchWrite => ({
      op: 'check',
      path,
      version,
    }))
    // A batch has room for so many of the rows that it depends on.
    await db.batch([...checks.slice(0, Math.max(0, batchMax - writes.length)), ...writes])
  }
}

/** As the server has it. */
const batchMax = 100
const attemptsMax = 8

async function runMutator(mutator: Run<unknown>, input: unknown): Promise<void> {
  const { id } = await findPlayer()
  for (let attempt = 1; ; attempt += 1) {
    const change = new Change()
    await mutator(contextOf(id, change, change), input)
    try {
      return await change.commit()
    } catch (error) {
      const isRetried = field(error, 'code') === 'document_changed'
      if (!isRetried || attempt === attemptsMax) throw error
    }
  }
}

let last: Promise<unknown> = Promise.resolve()
let count = 0

/** Runs the mutations of a page one after another. */
function mutate(mutator: Run<unknown>, input: unknown) {
  const confirmed = last.then(() => runMutator(mutator, input))
  last = confirmed.catch(() => undefined)
  const id = (count += 1)
  return confirmed.then(() => ({ id, confirmed }))
}

const noActions = new Proxy(
  {},
  {
    get: (_, name) => async () => {
      throw failure(
        'unavailable',
        `This app runs without the server of Poe, which has ${String(name)}.`,
      )
    },
  },
)

const ready = async (): Promise<void> => void (await findPlayer())

function setupStore({ mutators = {} }: StoreConfig = {}) {
  const names = Object.entries(mutators)
  const store = {
    mutate: Object.fromEntries(
      names.map(([name, mutator]) => [name, (input: unknown) => mutate(mutator, input)]),
    ),
    action: noActions,
    async query<Result>(read: Run<Result>): Promise<Result> {
      const { id } = await findPlayer()
      return read(contextOf(id, new Change()))
    },
    /** Calls `next` now and after each change. Returns the function that ends it. */
    subscribe: <Result>(read: Run<Result>, next: (result: Result) => void): (() => void) =>
      watchTables(async (reader) => read(contextOf((await findPlayer()).id, reader)), next),
    connectionStatus: 'connected',
    isBootstrapped: true,
    hasServerData: true,
    endReason: null,
    isEnded: () => false,
    get isOnline() {
      return navigator.onLine
    },
    waitForLocalData: ready,
    waitForServerData: ready,
    waitForBootstrap: ready,
    /** A number that no other page of the app is likely to have. */
    getClientOrdinal: async () => crypto.getRandomValues(new Uint32Array(1))[0],
  }
  extend('Poe', { store })
  return store
}

extend('Poe', { setupStore })
