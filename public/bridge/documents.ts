import type { Bridge, RunningCall } from './bridge.ts'
import type { CallError } from './protocol.ts'
import type { BatchWrite, Data, WriteOptions } from './service-types.ts'
import { type Change, WatchedDocuments } from './watched.ts'
import { createWriteOrder, type WriteOrder } from './write-order.ts'

type Direction = 'asc' | 'desc'

/** A document as the server sends it. */
export interface StoredDocument {
  id: string
  path: string
  data: Data
  author: string
  version: number
  created: string
  updated: string
}

/** A query of a collection, as the server takes it. */
interface Query {
  collection: string
  where: { field: string; op: string; value: unknown }[]
  orderBy: { field: string; direction: Direction }[]
  limit?: number
}

/** A document as it was read. `author`, `version` and times are undefined for a missing one. */
export interface DocumentSnapshot extends Partial<Omit<StoredDocument, 'data'>> {
  id: string
  path: string
  exists: boolean
  data(): Data | undefined
}

/** The documents that a query found, in order. */
export interface QuerySnapshot {
  docs: DocumentSnapshot[]
  size: number
  empty: boolean
  forEach(view: (document: DocumentSnapshot) => void): void
  /** Returns the changes since the last snapshot of a listener. */
  docChanges(): DocumentChange[]
}

interface DocumentChange {
  type: Change['type']
  doc: DocumentSnapshot
}

type OnError = (error: CallError) => void

interface Lease {
  holder: string
  ttlMs: number
  data?: Data
}

/** The pause of a page that has no place among the open pages of its player. */
const busyMs = 15_000

const idOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1)

export function snapshotOf(path: string, stored: StoredDocument | null): DocumentSnapshot {
  const { data, ...facts } = stored ?? { data: undefined }
  // Each reader gets a copy that it may change.
  const copy = (): Data | undefined => (data === undefined ? undefined : structuredClone(data))
  return Object.freeze({ id: idOf(path), path, ...facts, exists: stored !== null, data: copy })
}

export function querySnapshotOf(rows: StoredDocument[], changes?: Change[]): QuerySnapshot {
  const docs = rows.map((row) => snapshotOf(row.path, row))
  return Object.freeze({
    docs,
    size: docs.length,
    empty: docs.length === 0,
    forEach: (view: (document: DocumentSnapshot) => void) => docs.forEach(view),
    docChanges: () =>
      (changes ?? rows.map((stored) => ({ type: 'added' as const, stored }))).map(
        ({ type, stored }): DocumentChange => ({ type, doc: snapshotOf(stored.path, stored) }),
      ),
  })
}

/**
 * Watches documents. Returns the function that ends it. An error ends it too, except that a page
 * without `onError` waits until another page of its player closes.
 */
function watch(
  call: Bridge,
  input: object,
  next: (documents: WatchedDocuments, changes: Change[]) => void,
  onError: OnError | undefined,
): () => void {
  const end = new AbortController()
  const documents = new WatchedDocuments()
  const onEvent = (event: unknown): void => {
    const changes = documents.apply(event)
    if (changes === 'lost') running.send('all')
    else if (changes && !end.signal.aborted) next(documents, changes)
  }
  let running: RunningCall<undefined>
  const begin = (isFirst: boolean): void => {
    running = call<undefined>('db.watch', input, { onEvent, signal: end.signal })
    running.result.catch((error: CallError) => {
      if (end.signal.aborted) return
      if (onError) return onError(error)
      const isBusy = error.code === 'busy'
      if (isFirst || !isBusy) reportError(error)
      if (isBusy) setTimeout(() => begin(false), busyMs)
    })
  }
  begin(true)
  return () => end.abort()
}

interface Written {
  document: StoredDocument
}

/** The calls of a page, of which those of one document follow each other. */
interface Calls {
  call: Bridge
  order: WriteOrder
}

const send = <Result>(
  { call, order }: Calls,
  name: string,
  paths: string[],
  input: object,
): Promise<Result> => order.send(paths, input, (sent) => call<Result>(name, sent).result)

function openDocument(calls: Calls, path: string) {
  const written = async (name: string, input: object): Promise<DocumentSnapshot> =>
    snapshotOf(path, (await send<Written>(calls, name, [path], { path, ...input })).document)
  return Object.freeze({
    id: idOf(path),
    path,
    collection: (name: string) => openCollection(calls, `${path}/${name}`),
    async get(): Promise<DocumentSnapshot> {
      type Result = { document: StoredDocument | null }
      const { document } = await send<Result>(calls, 'db.get', [path], { path })
      return snapshotOf(path, document)
    },
    /** Creates or replaces the document. */
    set: (data: Data, options?: WriteOptions) => written('db.set', { data, ...options }),
    /** Merges fields deeply. Throws `not_found` for a missing document, without `create`. */
    update: (data: Data, options?: { create?: boolean }) =>
      written('db.update', { data, ...options }),
    /** Returns whether there was a document. */
    delete: (): Promise<boolean> => send<boolean>(calls, 'db.delete', [path], { path }),
    /** Calls `next` now and after each change. Returns the function that ends it. */
    onSnapshot: (next: (document: DocumentSnapshot) => void, onError?: OnError) =>
      watch(
        calls.call,
        { path },
        ({ rows: [row] }) => next(snapshotOf(path, row ?? null)),
        onError,
      ),
    /** Takes the document for a time. `acquired` is false while another holder has it. */
    async acquire(lease: Lease) {
      type Result = Written & { acquired: boolean; until: string | null }
      const input = { path, ...lease }
      const { document, ...facts } = await send<Result>(calls, 'db.acquire', [path], input)
      return { ...facts, document: snapshotOf(path, document) }
    },
  })
}

function openQuery(calls: Calls, query: Query) {
  return Object.freeze({
    where: (field: string, op: string, value: unknown) =>
      openQuery(calls, { ...query, where: [...query.where, { field, op, value }] }),
    orderBy: (field: string, direction: Direction = 'asc') =>
      openQuery(calls, { ...query, orderBy: [...query.orderBy, { field, direction }] }),
    limit: (limit: number) => openQuery(calls, { ...query, limit }),
    /** Calls `next` now and after each change. Returns the function that ends it. */
    onSnapshot: (next: (found: QuerySnapshot) => void, onError?: OnError) =>
      watch(
        calls.call,
        { query },
        ({ rows }, changes) => next(querySnapshotOf(rows, changes)),
        onError,
      ),
    async get(): Promise<QuerySnapshot> {
      type Result = { documents: StoredDocument[] }
      await calls.order.settled()
      return querySnapshotOf((await calls.call<Result>('db.query', query).result).documents)
    },
  })
}

function openCollection(calls: Calls, path: string) {
  return Object.freeze({
    id: idOf(path),
    path,
    ...openQuery(calls, { collection: path, where: [], orderBy: [] }),
    doc: (id: string) => openDocument(calls, `${path}/${id}`),
    /** Adds a document, whose id sorts by time. */
    async add(data: Data, options?: WriteOptions): Promise<DocumentSnapshot> {
      const input = { collection: path, data, ...options }
      const { document } = await calls.call<Written>('db.add', input).result
      return snapshotOf(document.path, document)
    },
  })
}

/** `service.db`: documents that all players of the app share. */
export function openDb(call: Bridge) {
  const calls: Calls = { call, order: createWriteOrder() }
  return Object.freeze({
    collection: (path: string) => openCollection(calls, path),
    doc: (path: string) => openDocument(calls, path),
    /** Writes several documents, all or none. Throws `document_changed` where a check fails. */
    batch: async (writes: BatchWrite[]): Promise<void> =>
      void (await send<object>(
        calls,
        'db.batch',
        writes.map(({ path }) => path),
        { writes },
      )),
    /** Returns the player: an id that only this app has, and the name that they gave it, or ''. */
    me: (): Promise<{ id: string; name: string }> =>
      call<{ id: string; name: string }>('db.me', {}).result,
  })
}
