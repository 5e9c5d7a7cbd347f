import type { SQLQueryBindings } from 'bun:sqlite'

import {
  and,
  type AnyColumn,
  asc,
  Column,
  count,
  desc,
  eq,
  fillPlaceholders,
  getTableColumns,
  gt,
  inArray,
  is,
  lt,
  or,
  SQL,
  sql,
} from 'drizzle-orm'
import type {
  AnySQLiteColumn,
  SQLiteColumn,
  SQLiteInsertValue,
  SQLiteTable,
} from 'drizzle-orm/sqlite-core'

import type { PagePosition } from '../cursor.ts'
import { lazyFor } from '../lazy.ts'
import { nano, type NanoUsd } from '../money.ts'
import type { Json } from '../schema.ts'
import { castTo, dialect } from './columns.ts'
import { connectionOf } from './connection.ts'
import type { Db, Engine, Prepared } from './engine.ts'

interface Decoder {
  mapFromDriverValue(stored: unknown): unknown
}

/** Private fields of drizzle's prepared query for bun:sqlite; query.test.ts checks them. */
interface Parts {
  query: { sql: string; params: unknown[] }
  fields?: { path: string[]; field: unknown }[]
  customResultMapper?: unknown
}

interface ColumnReader {
  name: string
  decoder: Decoder
  /** Most columns need no decoding. */
  isPlain: boolean
}

/**
 * Returns a function that prepares a query with columns that are resolved once. drizzle resolves
 * them for each row, which costs a list half more (docs/decisions/0143). A query with nested
 * results stays as it is.
 */
export function resolveColumns<Rows>(
  first: Db,
  build: (db: Db) => Prepared<Rows>,
): (db: Db) => Prepared<Rows> {
  const { query, fields, customResultMapper } = castTo<Parts>(build(first))
  const columns = fields?.flatMap(readerOf)
  if (customResultMapper || !columns || columns.length !== fields?.length) return build
  return (db) => {
    const { values: read } = connectionOf(db).prepare(query.sql)
    return {
      execute: async (values = {}) => {
        const bound = castTo<SQLQueryBindings[]>(fillPlaceholders(query.params, values))
        return castTo<Rows>(read(...bound).map((stored) => rowOf(columns, stored)))
      },
    }
  }
}

function rowOf(columns: ColumnReader[], stored: unknown[]): Json {
  const row: Json = {}
  columns.forEach(({ name, decoder, isPlain }, at) => {
    const value = stored[at]
    row[name] = value === null || isPlain ? value : decoder.mapFromDriverValue(value)
  })
  return row
}

/** Returns the reader of a result column; none for a nested one. */
function readerOf({ path: [name, ...deeper], field }: { path: string[]; field: unknown }) {
  if (name === undefined || deeper.length > 0) return []
  if (!is(field, Column) && !is(field, SQL)) return []
  const decoder = is(field, SQL)
    ? castTo<{ decoder: Decoder }>(field).decoder
    : castTo<Decoder>(field)
  const { mapFromDriverValue: plain } = Column.prototype
  return [{ name, decoder, isPlain: decoder.mapFromDriverValue === plain }]
}

/**
 * Returns a query that is prepared once per database. Hot paths use it: an unprepared drizzle query
 * costs 5.7 times a raw statement, a prepared one 1.13 times.
 *
 *     const findKey = prepared((db) =>
 *       db.select().from(keys).where(eq(keys.hash, sql.placeholder('hash'))).prepare(),
 *     )
 *     const [key] = await findKey(db).execute({ hash })
 */
export function prepared<Rows>(build: (db: Db) => Prepared<Rows>): (db: Db) => Prepared<Rows> {
  if (dialect !== 'sqlite') return lazyFor(build)
  // A failed transaction replaces its database. The new one need not build the query again.
  let prepare: ((db: Db) => Prepared<Rows>) | undefined
  return lazyFor((db) => (prepare ??= resolveColumns(db, build))(db))
}

/** Returns a placeholder for every column of a table: the values of a prepared insert. */
export const placeholders = <T extends SQLiteTable>(table: T) =>
  castTo<SQLiteInsertValue<T>>(
    Object.fromEntries(
      Object.keys(getTableColumns(table)).map((name) => [name, sql.placeholder(name)]),
    ),
  )

/**
 * Returns the columns of an upsert that takes the new row, without those of the key: the `set` of
 * `onConflictDoUpdate`.
 */
export const excluded = (table: SQLiteTable, key: string[]): Record<string, SQL> =>
  Object.fromEntries(
    Object.entries(getTableColumns(table))
      .filter(([name]) => !key.includes(name))
      .map(([name, column]) => [name, sql.raw(`excluded.${column.name}`)]),
  )

/** Returns an exact sum of NanoUsd on both engines; 0 without rows. */
export const sumOf = (money: AnyColumn | SQL) =>
  sql<NanoUsd>`coalesce(sum(${money}), 0)`.mapWith((sum) => nano(BigInt(sum)))

/** Returns the number of rows that a query without `returning` changed. */
export const changedRowCount = (result: unknown): number =>
  Number(Reflect.get(Object(result), dialect === 'sqlite' ? 'changes' : 'count'))

/**
 * Caches at most `max` results by name until the next commit, so a result is never older than the
 * database. Results are frozen because callers share them. PostgreSQL caches nothing: other
 * processes may write there.
 */
export function cacheUntilCommit<Found extends object>(
  max: number,
): <Maybe extends Found | undefined>(
  engine: Engine,
  name: string,
  find: () => Promise<Maybe>,
) => Promise<Maybe | Found> {
  const caches = new WeakMap<Db, { commits: number | undefined; found: Map<string, Found> }>()
  return async ({ read, commits }, name, find) => {
    const now = commits()
    const before = caches.get(read)
    const cache = before?.commits === now && before ? before : { commits: now, found: new Map() }
    caches.set(read, cache)
    const known = cache.found.get(name)
    if (known) return known
    const found = await find()
    if (found && now !== undefined && now === commits() && cache.found.size < max) {
      cache.found.set(name, Object.freeze(found))
    }
    return found
  }
}

const cachedRowsMax = 10_000

/** Finds one row by id with a prepared query and caches it until the next commit. */
export function lookup<Row extends object>(
  query: (db: Db) => Prepared<Row[]>,
): (engine: Engine, id: string) => Promise<Row | undefined> {
  const keep = cacheUntilCommit<Row>(cachedRowsMax)
  return (engine, id) =>
    keep(engine, id, async () => {
      const [row] = await query(engine.read).execute({ id })
      return row
    })
}

/** Returns the number of rows of a table, or of those that match `where`. */
export async function countRows(db: Db, table: SQLiteTable, where?: SQL): Promise<number> {
  const [row] = await db.select({ rows: count() }).from(table).where(where)
  return row?.rows ?? 0
}

/** Returns whether a table has a row that matches `where`. */
export async function hasRows(db: Db, table: SQLiteTable, where?: SQL): Promise<boolean> {
  const rows = await db
    .select({ found: sql`1` })
    .from(table)
    .where(where)
    .limit(1)
  return rows.length > 0
}

/** Returns the condition for a column of lower-case text that contains a text. */
export const contains = (column: AnyColumn | SQL, text: string): SQL =>
  sql`${column} like ${`%${text.replace(/[\\%_]/g, (sign) => `\\${sign}`)}%`} escape '\\'`

/** Returns the condition for rows after a cursor in a list ordered by time and id, newest first. */
export const isAfterCursor = (
  { created, id }: Record<keyof PagePosition, AnyColumn>,
  after: PagePosition | undefined,
): SQL | undefined =>
  after && or(lt(created, after.created), and(eq(created, after.created), lt(id, after.id)))

/** Lists the rows of a table that match, after a cursor and newest first. */
export const listNewest = <T extends SQLiteTable & Record<keyof PagePosition, SQLiteColumn>>(
  db: Db,
  table: T,
  matches: SQL | undefined,
  limit: number,
  after?: PagePosition,
) =>
  db
    .select()
    .from(table)
    .where(and(matches, isAfterCursor(table, after)))
    .orderBy(desc(table.created), desc(table.id))
    .limit(limit)

/** Lists the rows of a table that match, after a cursor and oldest first. */
export const listOldest = <T extends SQLiteTable & Record<keyof PagePosition, SQLiteColumn>>(
  db: Db,
  table: T,
  matches: SQL | undefined,
  limit: number,
  after?: PagePosition,
) => {
  const { created, id } = table
  const isLater =
    after && or(gt(created, after.created), and(eq(created, after.created), gt(id, after.id)))
  return db
    .select()
    .from(table)
    .where(and(matches, isLater))
    .orderBy(asc(created), asc(id))
    .limit(limit)
}

interface Orderable {
  orderBy: (...columns: never[]) => unknown
}

/**
 * Locks the rows that a select finds until the transaction ends. It locks in the order of `column`
 * (the primary key), so two transactions cannot deadlock. SQLite has one writer and needs no lock.
 */
export function forUpdate<Query extends Orderable>(query: Query, column: AnyColumn): Query {
  Reflect.apply(query.orderBy, query, [column])
  if (dialect === 'postgres' && 'for' in query && typeof query.for === 'function') {
    query.for('update')
  }
  return query
}

const takeLock = prepared((db) =>
  db
    .select({ taken: sql<number>`1` })
    .from(sql`pg_advisory_xact_lock(hashtextextended(${sql.placeholder('name')}, 0))`)
    .prepare(),
)

/**
 * Serializes transactions that use the same `name` until they end. Use it where a limit is counted
 * before a row is added and there is no row to lock yet. Take it first in a transaction, and only
 * one. SQLite's transactions already run one at a time.
 */
export async function lock(db: Db, name: string): Promise<void> {
  if (dialect === 'postgres') await takeLock(db).execute({ name })
}

/** Returns queries over a column of content names, for the storage sweep and backups. */
export const contentReferences = (column: AnySQLiteColumn<{ data: string }>) => ({
  /** Returns those of `names` that a row refers to. Pass a few hundred at most. */
  async namedIn(db: Db, names: string[]): Promise<Set<string>> {
    const rows = await db
      .selectDistinct({ name: column })
      .from(column.table)
      .where(inArray(column, names))
    return new Set(rows.flatMap(({ name }) => name ?? []))
  },
  /** Returns up to `limit` names that rows refer to, in order, after the name `after`. */
  async namedAfter(db: Db, after: string, limit: number): Promise<string[]> {
    const rows = await db
      .selectDistinct({ name: column })
      .from(column.table)
      .where(gt(column, after))
      .orderBy(asc(column))
      .limit(limit)
    return rows.flatMap(({ name }) => name ?? [])
  },
})
