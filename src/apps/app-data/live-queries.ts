import { ApiError, type HostingErrorName } from '../../kernel/errors.ts'
import type { Log } from '../../kernel/log.ts'
import { errorEnvelope, knownError } from '../../people/error-response.ts'
import { type DocumentCache, selectDocuments } from './document-cache.ts'
import { type Document, presentDocument } from './documents.ts'
import type { Query } from './query.ts'

declare module '../../kernel/context.ts' {
  interface AppContext {
    /** The queries of documents that open pages watch. */
    readonly liveQueries: LiveQueries
  }
}

/** A query of a collection of an app. With `id`, it is of one document. */
export interface WatchedQuery {
  app: string
  collection: string
  query: Query
  id?: string | undefined
}

/** Receives the fields of an event as the end of a JSON object: `"version":3,"docs":[]}`. */
export type Watcher = (fields: string) => void

const fieldsOf = (event: object): string => JSON.stringify(event).slice(1)

/** A document with its place in the result. */
const placed = (row: Document, at: number) => [at, presentDocument(row)] as const

/** Returns the fields of an event for an error. */
export const errorFields = (error: ApiError<HostingErrorName>): string => {
  const { code, error: message } = errorEnvelope(error).body
  return fieldsOf({ error: { code, message } })
}

/**
 * A query with all its watchers in this process. A change of its collection is read, compared and
 * written once for all of them.
 */
class LiveQuery {
  readonly watchers = new Set<Watcher>()
  /** Watchers, with those that still wait for their first event. */
  users = 0
  #rows: Document[] = []
  #version = -1
  #run: Promise<void> | undefined
  #isDue = false
  readonly end: () => void

  constructor(
    private readonly ctx: { cache: DocumentCache; log: Log },
    private readonly of: WatchedQuery,
  ) {
    this.end = ctx.cache.subscribe(of.app, of.collection, () => void this.#refreshQuietly())
  }

  /**
   * Begins to tell a watcher of changes: first of all documents, or of those that changed since a
   * version that it has. Throws `too_large`.
   */
  async add(watcher: Watcher, since: number | undefined): Promise<void> {
    await this.refresh()
    this.watchers.add(watcher)
    const changed = this.#rows.map(placed).filter(([, { version }]) => version > (since ?? -1))
    const ids = since === undefined ? undefined : this.#rows.map(({ id }) => id)
    watcher(
      fieldsOf({ version: this.#version, docs: changed, ...(ids ? { ids } : { full: true }) }),
    )
  }

  /** Reads the documents. Changes while it reads are read again after it. */
  refresh(): Promise<void> {
    if (this.#run) {
      this.#isDue = true
      return this.#run
    }
    this.#isDue = false
    const run = this.#read().finally(() => {
      this.#run = undefined
      if (this.#isDue) void this.#refreshQuietly()
    })
    this.#run = run
    return run
  }

  async #refreshQuietly(): Promise<void> {
    try {
      await this.refresh()
    } catch (error) {
      const known = knownError(error)
      if (!known) return this.ctx.log.error('live.query', error)
      if (known.errorName === 'too_large') this.#tell(errorFields(known))
    }
  }

  async #read(): Promise<void> {
    const { app, collection: name, query, id } = this.of
    const collection = await this.ctx.cache.read(app, name)
    const one = id === undefined ? undefined : collection.rows.get(id)
    const rows = id === undefined ? selectDocuments(collection, query) : one ? [one] : []
    const before = new Map(this.#rows.map((row) => [row.id, row.version]))
    const docs = rows
      .map((row, at) => ({ row, at }))
      .filter(({ row }) => before.get(row.id) !== row.version)
      .map(({ row, at }) => placed(row, at))
    const ids = new Set(rows.map((row) => row.id))
    const removed = [...before.keys()].filter((old) => !ids.has(old))
    this.#rows = rows
    this.#version = collection.version
    if (docs.length + removed.length > 0) {
      this.#tell(fieldsOf({ version: this.#version, docs, removed }))
    }
  }

  #tell(fields: string): void {
    for (const watcher of this.watchers) watcher(fields)
  }
}

/** The queries that open pages of this process watch. Equal ones are one. */
export class LiveQueries {
  readonly #queries = new Map<string, LiveQuery>()

  constructor(private readonly ctx: { cache: DocumentCache; log: Log }) {}

  /**
   * Watches a query. `since`: the version of the documents that the watcher has. Returns the
   * function that ends it. Throws `too_large`.
   */
  async watch(of: WatchedQuery, watcher: Watcher, since?: number): Promise<() => void> {
    const key = JSON.stringify(of)
    const query = this.#queries.get(key) ?? new LiveQuery(this.ctx, of)
    this.#queries.set(key, query)
    query.users += 1
    let isOpen = true
    const end = (): void => {
      if (!isOpen) return
      isOpen = false
      query.watchers.delete(watcher)
      query.users -= 1
      if (query.users > 0) return
      this.#queries.delete(key)
      query.end()
    }
    try {
      await query.add(watcher, since)
      return end
    } catch (error) {
      end()
      throw error
    }
  }
}
