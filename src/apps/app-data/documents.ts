import { and, eq, lte } from 'drizzle-orm'

import type { AppContext } from '../../kernel/context.ts'
import { afterCommit, type Db } from '../../kernel/db/engine.ts'
import { ApiError, rejectRequest } from '../../kernel/errors.ts'
import { newOrderedId } from '../../kernel/ids.ts'
import { isRecord, type Json } from '../../kernel/schema.ts'
import { iso } from '../../kernel/time.ts'
import type { App } from '../apps.ts'
import {
  documentBytesMax,
  leaseHolderCharsMax,
  leaseMsMax,
  pathCharsMax,
  pathSegmentsMax,
  removalsPerAppMax,
} from './limits.ts'
import type { Player } from './players.ts'
import type { DocumentBody } from './schemas.ts'
import { growDocuments, lockSpace } from './spaces.ts'
import { documents, spaces } from './tables.ts'

/** The place of a document: a collection, such as "games" or "games/1/moves", and an id in it. */
export interface DocumentPath {
  collection: string
  id: string
}

const segment = /^(?!\.{1,2}$)[^/\p{Cc}\p{Cs}]{1,120}$/u

function segmentsOf(path: string, param: string): string[] {
  const segments = path.split('/')
  const isValid = path.length <= pathCharsMax && segments.every((part) => segment.test(part))
  if (isValid && segments.length <= pathSegmentsMax) return segments
  rejectRequest(
    `"${param}" is a path of 1 to ${pathSegmentsMax} names with slashes between them, at most ${pathCharsMax} characters.`,
    param,
  )
}

/** Parses the path of a document. Throws `bad_request`. */
export function parseDocumentPath(path: string): DocumentPath {
  const segments = segmentsOf(path, 'path')
  if (segments.length % 2 !== 0) {
    rejectRequest(`"path" names a collection. Add the id of a document: "${path}/<id>".`, 'path')
  }
  return { collection: segments.slice(0, -1).join('/'), id: segments.at(-1) ?? '' }
}

/** Returns the path of a collection. Throws `bad_request`. */
export function checkCollectionPath(path: string): string {
  if (segmentsOf(path, 'collection').length % 2 === 1) return path
  rejectRequest(`"collection" names a document. Add a collection: "${path}/<name>".`, 'collection')
}

export const pathOf = ({ collection, id }: DocumentPath): string => `${collection}/${id}`

/** Returns the player to whom a collection is private; undefined for any other collection. */
export const ownerOf = (collection: string): string | undefined =>
  /^data\/users\/([^/]+)/.exec(collection)?.[1]

/**
 * Changes of a field that depend on its value, as the only member of an object. The server applies
 * them, so that no player overwrites the change of another: `{ score: { $add: 1 } }`.
 */
type Change = (before: unknown, argument: unknown, now: number) => unknown

const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])
const textOf = (value: unknown): string => JSON.stringify(value)

const changes = new Map<string, Change>([
  [
    '$add',
    (before, by) => (typeof before === 'number' ? before : 0) + (typeof by === 'number' ? by : 0),
  ],
  ['$now', (_, __, now) => iso(now)],
  ['$remove', () => undefined],
  // A map that is written whole. Its own changes apply, too.
  ['$replace', (_, value, now) => mergeField(undefined, value, now)],
  [
    '$union',
    (before, items) => {
      const known = new Set(listOf(before).map(textOf))
      return [...listOf(before), ...listOf(items).filter((item) => !known.has(textOf(item)))]
    },
  ],
  [
    '$without',
    (before, items) => {
      const removed = new Set(listOf(items).map(textOf))
      return listOf(before).filter((item) => !removed.has(textOf(item)))
    },
  ],
])

function changeOf(value: Json): [Change, argument: unknown] | undefined {
  const [entry, ...others] = Object.entries(value)
  const change = entry && others.length === 0 ? changes.get(entry[0]) : undefined
  return entry && change && [change, entry[1]]
}

/**
 * Returns an object with the fields of another merged into it. Objects merge deeply, and everything
 * else is replaced.
 */
function merge(before: Json, given: Json, now: number): Json {
  const merged = new Map(Object.entries(before))
  for (const [name, value] of Object.entries(given)) {
    const next = mergeField(merged.get(name), value, now)
    if (next === undefined) merged.delete(name)
    else merged.set(name, next)
  }
  // As own fields, also one that is called __proto__.
  return Object.fromEntries(merged)
}

function mergeField(before: unknown, value: unknown, now: number): unknown {
  if (!isRecord(value)) return value
  const change = changeOf(value)
  if (change) return change[0](before, change[1], now)
  return merge(isRecord(before) ? before : {}, value, now)
}

type Row = typeof documents.$inferSelect

/** A document that was not removed. */
export type Document = Row & { data: Json }

/** Returns a document as pages see it. */
export const presentDocument = (row: Document): DocumentBody => ({
  id: row.id,
  path: pathOf(row),
  data: row.data,
  author: row.author,
  version: row.version,
  created: iso(row.created),
  updated: iso(row.updated),
})

export const isDocument = (row: Row | undefined): row is Document =>
  row !== undefined && row.data !== null

/** Throws `not_found` for a collection that is private to another player. */
export function checkReadable(player: Player, collection: string): void {
  const owner = ownerOf(collection)
  if (owner !== undefined && owner !== player.id) throw missing(collection)
}

const missing = (path: string): ApiError => new ApiError('not_found', { what: `document ${path}` })

const isAt = (app: string, { collection, id }: DocumentPath) =>
  and(eq(documents.app, app), eq(documents.collection, collection), eq(documents.id, id))

export async function readRow(db: Db, app: string, at: DocumentPath): Promise<Row | undefined> {
  const [row] = await db.select().from(documents).where(isAt(app, at))
  return row
}

/** Returns a document; undefined where there is none. Throws `not_found` for a private one. */
export async function findDocument(
  { db }: AppContext,
  player: Player,
  at: DocumentPath,
): Promise<Document | undefined> {
  checkReadable(player, at.collection)
  const row = await readRow(db.read, player.app.id, at)
  return isDocument(row) ? row : undefined
}

/** The state of a document after a write: its new fields, or null where it is removed. */
export type Write = (before: Document | undefined) => Partial<Row> & { data: Json | null }

/** Throws `not_own` for a document that another player protects. */
function checkOwn(player: Player, before: Document | undefined): void {
  if (before?.own && before.author !== player.id) throw new ApiError('not_own')
}

/**
 * Writes a document in one transaction, which gives it the next version of the app's data. Returns
 * it as it is then. Throws what `write` throws, `not_own`, `too_large`, `data_full` and
 * `storage_full`.
 */
async function change(
  ctx: AppContext,
  player: Player,
  at: DocumentPath,
  write: Write,
): Promise<Document> {
  return ctx.db.tx((db) => changeIn(ctx, db, player, at, write))
}

/** As `change`, in a transaction with other writes. */
export async function changeIn(
  ctx: AppContext,
  db: Db,
  player: Player,
  at: DocumentPath,
  write: Write,
): Promise<Document> {
  checkReadable(player, at.collection)
  const { app, id: editor } = player
  const now = ctx.clock.now()
  const { version } = await lockSpace(db, app.id)
  const stored = await readRow(db, app.id, at)
  const before = isDocument(stored) ? stored : undefined
  const next = write(before)
  const bytes = bytesOf(at, next.data)
  const row: Row = {
    author: editor,
    own: before?.own ?? false,
    created: before?.created ?? now,
    holder: before?.holder ?? null,
    heldUntil: before?.heldUntil ?? null,
    ...next,
    ...at,
    app: app.id,
    editor,
    version,
    bytes,
    updated: now,
  }
  const { app: _, collection: __, id: ___, ...changed } = row
  await db
    .insert(documents)
    .values(row)
    .onConflictDoUpdate({
      target: [documents.app, documents.collection, documents.id],
      set: changed,
    })
  const rows = (next.data === null ? 0 : 1) - (before ? 1 : 0)
  await growDocuments(ctx, db, app, { rows, bytes: bytes - (before?.bytes ?? 0) }, player)
  if (next.data === null) await forgetRemovals(db, app, version)
  afterCommit(db, () => ctx.documentCache.announce(app.id, at.collection))
  return { ...row, data: next.data ?? {} }
}

/** Returns the bytes that count for a document; 0 for a removed one. Throws `too_large`. */
export function bytesOf(at: DocumentPath, data: Json | null): number {
  if (data === null) return 0
  const bytes = Buffer.byteLength(JSON.stringify(data))
  if (bytes > documentBytesMax) throw new ApiError('too_large', { bytes, max: documentBytesMax })
  return bytes + pathOf(at).length
}

/** Forgets the oldest removals now and then. Readers of older versions read everything again. */
async function forgetRemovals(db: Db, { id: app }: App, version: number): Promise<void> {
  const until = version - removalsPerAppMax
  if (until <= 0 || version % 100 !== 0) return
  const isOld = and(eq(documents.app, app), lte(documents.version, until), eq(documents.bytes, 0))
  await db.delete(documents).where(isOld)
  await db.update(spaces).set({ forgotten: until }).where(eq(spaces.app, app))
}

export interface SetInput {
  data: Json
  own?: boolean | undefined
}

/** Returns the write that creates or replaces a document. */
export const setting =
  (ctx: AppContext, player: Player, { data, own }: SetInput): Write =>
  (before) => {
    checkOwn(player, before)
    const isNew = before === undefined || before.author === player.id
    const isOwn = isNew ? (own ?? before?.own ?? false) : before.own
    return { data: merge({}, data, ctx.clock.now()), own: isOwn }
  }

/** Creates or replaces a document. With `own`, only its author may change it. */
export const setDocument = (
  ctx: AppContext,
  player: Player,
  at: DocumentPath,
  input: SetInput,
): Promise<Document> => change(ctx, player, at, setting(ctx, player, input))

/** Creates a document with an id that sorts by time. */
export const addDocument = (
  ctx: AppContext,
  player: Player,
  collection: string,
  given: SetInput,
): Promise<Document> =>
  setDocument(ctx, player, { collection, id: newOrderedId(ctx.clock.now()) }, given)

export interface UpdateInput {
  data: Json
  create?: boolean | undefined
}

/** Returns the write that merges fields into a document. Throws `not_found`. */
export const updating =
  (ctx: AppContext, player: Player, at: DocumentPath, { data, create }: UpdateInput): Write =>
  (before) => {
    checkOwn(player, before)
    if (!before && create !== true) throw missing(pathOf(at))
    return { data: merge(before?.data ?? {}, data, ctx.clock.now()) }
  }

/** Merges fields into a document. With `create`, a missing one begins empty. */
export const updateDocument = (
  ctx: AppContext,
  player: Player,
  at: DocumentPath,
  input: UpdateInput,
): Promise<Document> => change(ctx, player, at, updating(ctx, player, at, input))

/** Returns the write that removes a document. */
export const removing =
  (player: Player): Write =>
  (before) => {
    checkOwn(player, before)
    return { data: null, own: false, holder: null, heldUntil: null }
  }

/** Removes a document. Returns whether there was one. */
export async function deleteDocument(
  ctx: AppContext,
  player: Player,
  at: DocumentPath,
): Promise<boolean> {
  if (!(await findDocument(ctx, player, at))) return false
  await change(ctx, player, at, removing(player))
  return true
}

interface LeaseRequest {
  holder: string
  ttlMs: number
  data?: Json | undefined
}

/** Ends a transaction that would change nothing. */
class Held extends Error {
  constructor(readonly document: Document) {
    super('held')
  }
}

/**
 * Takes a lease of a document for a time, and merges `data` into it. A lease that another holder
 * has stays, and nothing changes. A time of 0 gives the lease back. A missing document is created.
 */
export async function acquireDocument(
  ctx: AppContext,
  player: Player,
  at: DocumentPath,
  { holder, ttlMs, data = {} }: LeaseRequest,
): Promise<{ acquired: boolean; document: Document }> {
  checkLease(holder, ttlMs)
  const now = ctx.clock.now()
  const name = `${player.id} ${holder}`
  try {
    const document = await change(ctx, player, at, (before) => {
      checkOwn(player, before)
      const isHeld = before !== undefined && (before.heldUntil ?? 0) > now
      if (isHeld && before.holder !== name) throw new Held(before)
      const lease = ttlMs === 0 ? null : now + ttlMs
      return {
        data: merge(before?.data ?? {}, data, now),
        holder: lease === null ? null : name,
        heldUntil: lease,
      }
    })
    return { acquired: ttlMs > 0, document }
  } catch (error) {
    if (error instanceof Held) return { acquired: false, document: error.document }
    throw error
  }
}

function checkLease(holder: string, ttlMs: number): void {
  const isName =
    holder.length > 0 && holder.length <= leaseHolderCharsMax && !/\p{Cc}/u.test(holder)
  if (isName && Number.isInteger(ttlMs) && ttlMs >= 0 && ttlMs <= leaseMsMax) return
  rejectRequest(
    `"holder" has 1 to ${leaseHolderCharsMax} characters, and "ttlMs" is a whole number from 0 to ${leaseMsMax}.`,
    'ttlMs',
  )
}
