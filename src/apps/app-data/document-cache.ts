import { and, eq, gt } from 'drizzle-orm'
import { LRUCache } from 'lru-cache'

import type { AppContext } from '../../kernel/context.ts'
import type { Db, Engine } from '../../kernel/db/engine.ts'
import type { Signals } from '../../kernel/db/signals.ts'
import { ApiError, rejectRequest } from '../../kernel/errors.ts'
import { checkCollectionPath, checkReadable, type Document } from './documents.ts'
import {
  cachedDocumentBytesMax,
  conditionBytesMax,
  conditionValuesMax,
  documentsPerAppMax,
  queryBytesMax,
} from './limits.ts'
import type { Player } from './players.ts'
import { type Operator, type Query, select } from './query.ts'
import type { QueryRequest } from './schemas.ts'
import { documents, spaces } from './tables.ts'

declare module '../../kernel/context.ts' {
  interface AppContext {
    /** The documents of apps that this process has read. */
    readonly documentCache: DocumentCache
  }
}

/** The documents of a collection, as they were at a version of the app's data. */
export interface Collection {
  version: number
  /** No document was removed before this version without a trace. */
  forgotten: number
  rows: Map<string, Document>
  bytes: number
  /** The newest commit of the database that it has. */
  commits: number | undefined
}

const keyOf = (app: string, collection: string): string => `${app} ${collection}`
const emptyBytes = 1_000

/**
 * Keeps the collections that are read, parsed. Each read catches up with the changes since the last
 * one by their versions, so it is never older than the database.
 */
export class DocumentCache {
  readonly #collections = new LRUCache<string, Collection>({
    maxSize: cachedDocumentBytesMax,
    sizeCalculation: ({ bytes }) => bytes + emptyBytes,
  })
  /** The last read of each collection that is read now. */
  readonly #reads = new Map<string, Promise<Collection>>()
  readonly #listeners = new Map<string, Set<() => void>>()

  constructor(private readonly ctx: { db: Engine; signals: Signals }) {
    ctx.signals.on('documents', (key) => {
      for (const changed of key === undefined ? this.#listeners.keys() : [key])
        this.#notify(changed)
    })
  }

  /** Returns a collection as it is now. */
  async read(app: string, collection: string): Promise<Collection> {
    const key = keyOf(app, collection)
    const before = this.#reads.get(key)
    // A running read may have begun before the write that this caller knows of.
    const read = (before ?? Promise.resolve())
      .catch(() => undefined)
      .then(() => this.#read(app, collection))
    this.#reads.set(key, read)
    try {
      return await read
    } finally {
      if (this.#reads.get(key) === read) this.#reads.delete(key)
    }
  }

  async #read(app: string, name: string): Promise<Collection> {
    const { read: db, commits } = this.ctx.db
    const key = keyOf(app, name)
    const known = this.#collections.get(key)
    const now = commits()
    if (known && now !== undefined && known.commits === now) return known
    const [space] = await db.select().from(spaces).where(eq(spaces.app, app))
    const { version = 0, forgotten = 0 } = space ?? {}
    const isCurrent = known !== undefined && known.version >= forgotten
    const collection: Collection = isCurrent
      ? known
      : { version: -1, forgotten, rows: new Map(), bytes: 0, commits: now }
    applyRows(collection, await changesSince(db, app, name, collection.version))
    collection.version = Math.max(collection.version, version)
    collection.commits = now
    this.#collections.set(key, collection)
    return collection
  }

  /** Tells the readers of a collection, in all processes, that it has changed. */
  announce(app: string, collection: string): void {
    const key = keyOf(app, collection)
    this.#notify(key)
    void this.ctx.signals.send('documents', key)
  }

  /** Calls `listener` for each change of a collection. Returns the function that ends it. */
  subscribe(app: string, collection: string, listener: () => void): () => void {
    const key = keyOf(app, collection)
    const own = this.#listeners.get(key) ?? new Set()
    this.#listeners.set(key, own.add(listener))
    return () => {
      own.delete(listener)
      if (own.size === 0 && this.#listeners.get(key) === own) this.#listeners.delete(key)
    }
  }

  #notify(key: string): void {
    for (const listener of this.#listeners.get(key) ?? []) listener()
  }
}

const changesSince = (db: Db, app: string, collection: string, version: number) =>
  db
    .select()
    .from(documents)
    .where(
      and(
        eq(documents.app, app),
        eq(documents.collection, collection),
        gt(documents.version, version),
      ),
    )

type Row = typeof documents.$inferSelect

function applyRows(collection: Collection, changed: Row[]): void {
  for (const { data, ...row } of changed) {
    collection.bytes += row.bytes - (collection.rows.get(row.id)?.bytes ?? 0)
    if (data === null) collection.rows.delete(row.id)
    else collection.rows.set(row.id, { ...row, data })
    collection.version = Math.max(collection.version, row.version)
  }
}

const withLists: readonly Operator[] = ['in', 'not-in', 'array-contains-any']

/** Returns the query of a request. Throws `bad_request`. */
export function readQuery({ where = [], orderBy = [], limit }: QueryRequest): Query {
  if (Buffer.byteLength(JSON.stringify(where)) > conditionBytesMax)
    rejectRequest(
      `The conditions have at most ${conditionBytesMax} bytes of JSON. Send fewer.`,
      'where',
    )
  for (const { op, value } of where) {
    const isList = Array.isArray(value) && value.length <= conditionValuesMax
    if (!withLists.includes(op) || isList) continue
    rejectRequest(`"${op}" needs a list of at most ${conditionValuesMax} values.`, 'where')
  }
  return {
    conditions: where.map(({ field, op, value }) => ({ field, operator: op, value })),
    orders: orderBy.map(({ field, direction }) => ({ field, isDescending: direction === 'desc' })),
    limit: limit ?? documentsPerAppMax,
  }
}

/** Returns the documents of a collection that match a query. Throws `too_large`. */
export function selectDocuments({ rows }: Collection, query: Query): Document[] {
  const found = select(rows.values(), query)
  const bytes = found.reduce((sum, row) => sum + row.bytes, 0)
  if (bytes <= queryBytesMax) return found
  throw new ApiError('too_large', { bytes, max: queryBytesMax })
}

/**
 * Returns the documents that match, and the version of the data that they have. Throws
 * `bad_request`, `not_found` for a private collection, and `too_large`.
 */
export async function queryDocuments(
  ctx: AppContext,
  player: Player,
  request: QueryRequest,
): Promise<{ rows: Document[]; version: number }> {
  const path = checkCollectionPath(request.collection)
  const query = readQuery(request)
  checkReadable(player, path)
  const collection = await ctx.documentCache.read(player.app.id, path)
  return { rows: selectDocuments(collection, query), version: collection.version }
}
