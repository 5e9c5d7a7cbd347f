import { and, asc, eq, gt, isNotNull, not, type SQL, sql } from 'drizzle-orm'

import type { AppContext } from '../../kernel/context.ts'
import { makeCursor, pageSize, parseCursor, takePage } from '../../kernel/cursor.ts'
import { afterCommit, type Db } from '../../kernel/db/engine.ts'
import { sumOf } from '../../kernel/db/query.ts'
import { iso } from '../../kernel/time.ts'
import { releaseBytes } from '../../people/agents/storage-quota.ts'
import type { App } from '../apps.ts'
import { pathOf } from './documents.ts'
import { playerIdChars, recordPageBytesMax } from './limits.ts'
import type { DeleteRecordsRequest, RecordBody, RecordQuery } from './schemas.ts'
import { challengeValue, deleteChallenges, deleteChallengesOf, deleteScores } from './scores.ts'
import { growDocuments, growShared, lockSpace } from './spaces.ts'
import { challenges, documents, players, scores, spaces, uploads, values } from './tables.ts'
import { deleteUploads, readUploads } from './uploads.ts'
import { lockValues } from './values.ts'

/** Collections that are private to a player are not for makers. */
export type RecordReader = 'maker' | 'operator'

/** A record with the position at which the next page begins. */
type PositionedRecord = RecordBody & { position: number }

interface Page {
  app: string
  reader: RecordReader
  after: number
  limit: number
}

const finders = {
  document: findDocuments,
  value: findValues,
  score: findScores,
  upload: findUploads,
  challenge: findChallenges,
  personal: findPersonal,
}

/**
 * Lists what the players of an app share, with its authors: documents in the order of their last
 * changes, or values by key. Of personal data it lists the bytes of each player, the largest first.
 * A page ends early where its records are large. Throws `bad_request`.
 */
export async function listRecords(
  ctx: AppContext,
  { id: app }: App,
  reader: RecordReader,
  query: RecordQuery,
): Promise<{ records: RecordBody[]; next: string | null }> {
  const kind = query.kind ?? 'document'
  const [after = '0'] = parseCursor(query.cursor, new RegExp(`^${kind} (\\d{1,15})$`)) ?? []
  const limit = pageSize(query.limit)
  const rows = await finders[kind](ctx.db.read, {
    app,
    reader,
    after: Number(after),
    limit: limit + 1,
  })
  let bytes = 0
  const large = rows.findIndex(
    (row) => row.value !== null && (bytes += row.bytes) > recordPageBytesMax,
  )
  const size = large < 0 ? limit : Math.min(Math.max(large, 1), limit)
  const { page, next } = takePage(rows, size, ({ position }) => makeCursor(kind, position))
  const records = page.map(({ position: _, ...record }) => record)
  return { records: kind === 'upload' ? await readUploads(ctx, app, records) : records, next }
}

async function findDocuments(
  db: Db,
  { app, reader, after, limit }: Page,
): Promise<PositionedRecord[]> {
  const rows = await db
    .select({ row: documents, authorName: players.name })
    .from(documents)
    .leftJoin(players, and(eq(players.app, documents.app), eq(players.id, documents.author)))
    .where(
      and(
        eq(documents.app, app),
        gt(documents.version, after),
        isNotNull(documents.data),
        isFor(reader),
      ),
    )
    .orderBy(asc(documents.version))
    .limit(limit)
  return rows.map(({ row, authorName }) => ({
    kind: 'document',
    name: pathOf(row),
    author: row.author,
    authorName,
    ...(row.own && { own: true }),
    value: row.data,
    bytes: row.bytes,
    updated: iso(row.updated),
    position: row.version,
  }))
}

async function findValues(db: Db, { app, after, limit }: Page): Promise<PositionedRecord[]> {
  const rows = await db
    .select({ row: values, authorName: players.name })
    .from(values)
    .leftJoin(players, and(eq(players.app, values.app), eq(players.id, values.author)))
    .where(and(eq(values.app, app), eq(values.owner, '')))
    .orderBy(asc(values.key))
    .limit(limit)
    .offset(after)
  return rows.map(({ row, authorName }, at) => ({
    kind: 'value',
    name: row.key,
    author: row.author,
    authorName,
    value: row.value,
    bytes: row.bytes,
    updated: iso(row.updated),
    position: after + at + 1,
  }))
}

async function findScores(db: Db, { app, after, limit }: Page): Promise<PositionedRecord[]> {
  const rows = await db
    .select({ row: scores, authorName: players.name })
    .from(scores)
    .leftJoin(players, and(eq(players.app, scores.app), eq(players.id, scores.player)))
    .where(eq(scores.app, app))
    .orderBy(asc(scores.board), asc(scores.lowest), asc(scores.player))
    .limit(limit)
    .offset(after)
  return rows.map(({ row: { board, lowest, player, score, at: time }, authorName }, at) => ({
    kind: 'score',
    name: board,
    author: player,
    authorName,
    value: lowest ? { score, lowest } : { score },
    bytes: 0,
    updated: iso(time),
    position: after + at + 1,
  }))
}

/** Lists uploads without their bytes, which only the records of the page get. */
async function findUploads(db: Db, { app, after, limit }: Page): Promise<PositionedRecord[]> {
  const rows = await db
    .select({ row: uploads, authorName: players.name })
    .from(uploads)
    .leftJoin(players, and(eq(players.app, uploads.app), eq(players.id, uploads.author)))
    .where(eq(uploads.app, app))
    .orderBy(asc(uploads.name))
    .limit(limit)
    .offset(after)
  return rows.map(({ row: { name, author, type, bytes, created }, authorName }, at) => ({
    kind: 'upload',
    name,
    author,
    authorName,
    value: type,
    bytes,
    updated: iso(created),
    position: after + at + 1,
  }))
}

async function findChallenges(db: Db, { app, after, limit }: Page): Promise<PositionedRecord[]> {
  const rows = await db
    .select({ row: challenges, authorName: players.name })
    .from(challenges)
    .leftJoin(players, and(eq(players.app, challenges.app), eq(players.id, challenges.player)))
    .where(eq(challenges.app, app))
    .orderBy(asc(challenges.created), asc(challenges.id))
    .limit(limit)
    .offset(after)
  return rows.map(({ row, authorName }, at) => ({
    kind: 'challenge',
    name: row.id,
    author: row.player,
    authorName,
    value: challengeValue(row),
    bytes: 0,
    updated: iso(row.created),
    position: after + at + 1,
  }))
}

const privateRoot = 'data/users/'
const idAt = privateRoot.length + 1
/** The player of a private collection. Numbers are no parameters, so that it can be grouped by. */
const privateOwner = sql<string>`substr(${documents.collection}, ${sql.raw(`${idAt}, ${playerIdChars}`)})`
const isPrivate = sql`substr(${documents.collection}, 1, ${sql.raw(String(privateRoot.length))}) = ${privateRoot}`

const isFor = (reader: RecordReader): SQL | undefined =>
  reader === 'maker' ? not(isPrivate) : undefined

/** Lists the players with personal data. Its content is theirs alone. */
async function findPersonal(db: Db, { app, after, limit }: Page): Promise<PositionedRecord[]> {
  const owned = db
    .select({ owner: privateOwner.as('owner'), bytes: sumOf(documents.bytes).as('private_bytes') })
    .from(documents)
    .where(and(eq(documents.app, app), isNotNull(documents.data), isPrivate))
    .groupBy(privateOwner)
    .as('owned')
  const bytes = sql`${players.valueBytes} + coalesce(${owned.bytes}, 0)`.mapWith(Number)
  const rows = await db
    .select({ row: players, bytes: bytes.as('bytes') })
    .from(players)
    .leftJoin(owned, eq(owned.owner, players.id))
    .where(and(eq(players.app, app), sql`${bytes} > 0`))
    .orderBy(sql`${bytes} desc`, asc(players.id))
    .limit(limit)
    .offset(after)
  return rows.map(({ row, bytes: size }, at) => ({
    kind: 'personal',
    name: row.id,
    author: row.id,
    authorName: row.name,
    value: null,
    bytes: size,
    updated: iso(row.created),
    position: after + at + 1,
  }))
}

/** Deletes the personal data of a player: values, and private documents. Returns their number. */
async function clearPersonal(ctx: AppContext, app: App, player: string): Promise<number> {
  return ctx.db.tx(async (db) => {
    const documentCount = await removeRecords(ctx, db, app, {
      docs: and(isPrivate, eq(privateOwner, player)),
    })
    return documentCount + (await deleteValuesOf(db, app, player))
  })
}

/** Deletes the personal values of a player of an app. Returns their number. */
export async function deleteValuesOf(
  db: Db,
  { id: app, maker }: Pick<App, 'id' | 'maker'>,
  player: string,
): Promise<number> {
  await lockValues(db, app, player)
  const deleted = await db
    .delete(values)
    .where(and(eq(values.app, app), eq(values.owner, player)))
    .returning({ bytes: values.bytes })
  const { rows, bytes } = lossOf(deleted)
  await db
    .update(players)
    .set({
      values: sql`${players.values} + ${rows}`,
      valueBytes: sql`${players.valueBytes} + ${bytes}`,
    })
    .where(and(eq(players.app, app), eq(players.id, player)))
  if (bytes < 0) await releaseBytes(db, maker, -bytes)
  return deleted.length
}

/** Returns the conditions of the records to delete. */
function matching(kind: 'author' | 'document' | 'value', name: string): Matching {
  if (kind === 'value') return { keys: eq(values.key, name) }
  if (kind === 'author') return { docs: eq(documents.author, name), keys: eq(values.author, name) }
  const [collection, id] = [name.replace(/\/[^/]*$/, ''), name.replace(/^.*\//, '')]
  return { docs: sql`${eq(documents.collection, collection)} and ${eq(documents.id, id)}` }
}

/**
 * Deletes a document, a shared value, an upload, a score, a challenge, all scores of a board, all
 * records of an author, or the personal data of a player. Returns the number of deleted records.
 */
export async function deleteRecords(
  ctx: AppContext,
  app: App,
  reader: RecordReader,
  request: DeleteRecordsRequest,
): Promise<number> {
  const { kind, name } = request
  if (kind === 'personal') return clearPersonal(ctx, app, name)
  if (kind === 'upload') {
    return ctx.db.tx((db) => deleteUploads(db, app, eq(uploads.name, name)))
  }
  if (kind === 'board') return ctx.db.tx((db) => deleteScores(db, app, { board: name }))
  if (kind === 'challenge') return ctx.db.tx((db) => deleteChallenges(db, app, name))
  if (kind === 'score') {
    const [board = '', player = ''] = name.split('/')
    return ctx.db.tx((db) => deleteScores(db, app, { board, player }))
  }
  const { docs, keys } = matching(kind, name)
  const shown = docs && and(docs, isFor(reader))
  return ctx.db.tx(async (db) => {
    const removed = await removeRecords(ctx, db, app, { docs: shown, keys })
    if (kind !== 'author') return removed
    const files = await deleteUploads(db, app, eq(uploads.author, name))
    const played = await deleteScores(db, app, { player: name })
    return removed + files + played + (await deleteChallengesOf(db, { app, id: name }))
  })
}

/** Conditions of documents and of shared values. */
interface Matching {
  docs?: SQL | undefined
  keys?: SQL | undefined
}

/** Deletes documents and shared values of an app in a transaction. Returns their number. */
export async function removeRecords(
  ctx: AppContext,
  db: Db,
  app: App,
  { docs, keys }: Matching,
): Promise<number> {
  const { version } = await lockSpace(db, app.id)
  const removed = docs
    ? await removeDocuments(db, and(eq(documents.app, app.id), docs), version)
    : []
  const deleted = keys
    ? await db
        .delete(values)
        .where(and(eq(values.app, app.id), eq(values.owner, ''), keys))
        .returning({ bytes: values.bytes })
    : []
  await growDocuments(ctx, db, app, lossOf(removed))
  await growShared(ctx, db, app, lossOf(deleted))
  const changed = new Set(removed.map(({ collection }) => collection))
  afterCommit(db, () => {
    for (const collection of changed) ctx.documentCache.announce(app.id, collection)
  })
  return removed.length + deleted.length
}

const lossOf = (rows: { bytes: number }[]) => ({
  rows: -rows.length,
  bytes: rows.reduce((sum, { bytes }) => sum - bytes, 0),
})

/** Removes documents, which stay as removals for pages that show them. */
async function removeDocuments(db: Db, where: SQL | undefined, version: number) {
  const isThere = and(where, isNotNull(documents.data))
  const found = await db
    .select({ collection: documents.collection, bytes: documents.bytes })
    .from(documents)
    .where(isThere)
  await db
    .update(documents)
    .set({ data: null, bytes: 0, version, holder: null, heldUntil: null, own: false })
    .where(isThere)
  return found
}

/** Deletes everything that a removed app kept for its players. */
export async function removeData(db: Db, { id, maker }: Pick<App, 'id' | 'maker'>): Promise<void> {
  await db.delete(documents).where(eq(documents.app, id))
  await db.delete(values).where(eq(values.app, id))
  await deleteScores(db, { id })
  await deleteUploads(db, { id, maker })
  await deleteChallenges(db, { id })
  const owners = await db
    .delete(players)
    .where(eq(players.app, id))
    .returning({ bytes: players.valueBytes })
  const [space] = await db.delete(spaces).where(eq(spaces.app, id)).returning()
  const shared = (space?.documentBytes ?? 0) + (space?.valueBytes ?? 0)
  const bytes = owners.reduce((sum, owner) => sum + owner.bytes, shared)
  if (bytes > 0) await releaseBytes(db, maker, bytes)
}
