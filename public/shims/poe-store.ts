/**
 * `Poe.setupStore` of apps of Poe: tables that all players of an app share, over `service.db`. A
 * mutator runs at once on what the page shows, and then on what the server has; there again where
 * another player has changed what it read. Source: the
 * documentation of Poe's platform of apps, "SyncedStoreClient API Reference" (November 2026).
 */
import type { BatchWrite } from '../bridge/service-types.ts'
import { field } from '../frame/messages.ts'
import { db, extend, failure, unavailable } from './bridge-calls.ts'
import {
  Draft,
  type Entry,
  type Reader,
  type Row,
  rowPath,
  watchTables,
  Writes,
} from './poe-tables.ts'

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

/** Returns the context that a read or a mutator gets. */
function contextOf(userId: string, reader: Reader, writer?: Writes) {
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

/** A mutation at the server: what it read, with the versions, and what it writes. */
class Change extends Writes implements Reader {
  readonly #read = new Map<string, number>()

  async find(collection: string, key: string): Promise<Row | undefined> {
    const written = this.written.get(collection)?.get(key)
    if (written !== undefined) return written ?? undefined
    const path = rowPath(collection, key)
    const stored = await db.doc(path).get()
    this.#read.set(path, stored.version ?? 0)
    return rowIn(stored.data())
  }

  async list(collection: string): Promise<Entry[]> {
    const { docs } = await db.collection(collection).get()
    for (const doc of docs) this.#read.set(doc.path, doc.version ?? 0)
    const stored = docs.map((doc): Entry => {
      return [decodeURIComponent(doc.id), rowIn(doc.data())?.value]
    })
    return this.merge(collection, stored)
  }

  async commit(): Promise<void> {
    const writes = [...this.written].flatMap(([collection, rows]) =>
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

let lastShown: Promise<unknown> = Promise.resolve()
let lastSent: Promise<unknown> = Promise.resolve()
let count = 0

async function showMutation(mutator: Run<unknown>, input: unknown): Promise<Draft> {
  const draft = new Draft()
  await mutator(contextOf((await findPlayer()).id, draft, draft), input)
  draft.show()
  return draft
}

/** Runs the mutations of a page one after another. Resolves when the page shows this one. */
async function mutate(mutator: Run<unknown>, input: unknown) {
  const id = (count += 1)
  const shown = lastShown.then(() => showMutation(mutator, input))
  lastShown = shown.catch(() => undefined)
  const before = lastSent
  const confirmed = shown.then(async (draft) => {
    await before
    draft.begin()
    try {
      await runMutator(mutator, input)
      await draft.settled()
    } finally {
      draft.end()
    }
  })
  // Its results would hold those of all mutations before.
  lastSent = Promise.allSettled([before, confirmed]).then(() => undefined)
  await shown
  return { id, confirmed }
}

/** Actions run on the server of Poe. */
const noActions = unavailable('store.action')

const ready = async (): Promise<void> => void (await findPlayer())

function setupStore({ mutators = {} }: StoreConfig = {}) {
  const names = Object.entries(mutators)
  const store = {
    mutate: Object.fromEntries(
      names.map(([name, mutator]) => [name, (input: unknown) => mutate(mutator, input)]),
    ),
    action: noActions,
    async query<Result>(read: Run<Result>): Promise<Result> {
      return read(contextOf((await findPlayer()).id, new Draft()))
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
