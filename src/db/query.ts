import { and, type AnyColumn, count, eq, getTableColumns, lt, or, type SQL, sql } from 'drizzle-orm'
import type { SQLiteInsertValue, SQLiteTable } from 'drizzle-orm/sqlite-core'

import type { After } from '../core/cursor.ts'
import { nano, type NanoUsd } from '../core/money.ts'
import { onceFor } from '../core/once.ts'
import { seenAs } from './columns.ts'
import { compiled } from './compiled.ts'
import { dialect } from './dialect.ts'
import type { Db, Engine, Prepared } from './engine.ts'

/**
 * A query that is built once per database and kept. Hot paths use it (an unprepared query costs
 * five times a raw statement).
 *
 *     const findKey = prepared((db) =>
 *       db.select().from(keys).where(eq(keys.hash, sql.placeholder('hash'))).prepare(),
 *     )
 *     const [key] = await findKey(db).execute({ hash })
 */
export const prepared = <Rows>(build: (db: Db) => Prepared<Rows>): ((db: Db) => Prepared<Rows>) =>
  onceFor((db) => (dialect === 'sqlite' ? compiled(build(db)) : build(db)))

/** Every column of a table as a placeholder of its name: the values of a prepared insert. */
export const placeholders = <T extends SQLiteTable>(table: T) =>
  seenAs<SQLiteInsertValue<T>>(
    Object.fromEntries(
      Object.keys(getTableColumns(table)).map((name) => [name, sql.placeholder(name)]),
    ),
  )

/** What money sums to, exactly in both engines; 0 without rows. */
export const sumOf = (money: AnyColumn | SQL) =>
  sql<NanoUsd>`coalesce(sum(${money}), 0)`.mapWith((sum) => nano(BigInt(sum)))

/** How many rows a query without `returning` changed: asking for them costs more than that. */
export const changedBy = (answer: unknown): number =>
  Number(Reflect.get(Object(answer), dialect === 'sqlite' ? 'changes' : 'count'))

/**
 * Keeps at most `max` things that were read, by name, until the next commit: what is read is never
 * older than the database. They are frozen, since several callers share one. Where others write to
 * the database too, nothing is kept.
 */
export function untilCommit<Found extends object>(
  max: number,
): <Maybe extends Found | undefined>(
  engine: Engine,
  name: string,
  find: () => Promise<Maybe>,
) => Promise<Maybe | Found> {
  const all = new WeakMap<Db, { commits: number | undefined; found: Map<string, Found> }>()
  return async ({ read, commits }, name, find) => {
    const now = commits()
    const before = all.get(read)
    const kept = before?.commits === now && before ? before : { commits: now, found: new Map() }
    all.set(read, kept)
    const known = kept.found.get(name)
    if (known) return known
    const found = await find()
    if (found && now !== undefined && now === commits() && kept.found.size < max) {
      kept.found.set(name, Object.freeze(found))
    }
    return found
  }
}

const keptMax = 10_000

/** Finds one row by its id with a prepared query, and keeps what it found until the next commit. */
export function lookup<Row extends object>(
  query: (db: Db) => Prepared<Row[]>,
): (engine: Engine, id: string) => Promise<Row | undefined> {
  const keep = untilCommit<Row>(keptMax)
  return (engine, id) =>
    keep(engine, id, async () => {
      const [row] = await query(engine.read).execute({ id })
      return row
    })
}

/** How many rows a table has, or how many of these. */
export async function countRows(db: Db, table: SQLiteTable, where?: SQL): Promise<number> {
  const [row] = await db.select({ rows: count() }).from(table).where(where)
  return row?.rows ?? 0
}

/** The rows behind one of a list that is ordered by moment and id, the newest first. */
export const isBehind = (
  { created, id }: Record<keyof After, AnyColumn>,
  after: After | undefined,
): SQL | undefined =>
  after && or(lt(created, after.created), and(eq(created, after.created), lt(id, after.id)))

interface Orderable {
  orderBy: (...columns: never[]) => unknown
}

/**
 * Locks the rows a select finds until the transaction ends, in the order of `column` (its primary
 * key), so that two transactions which lock the same rows never wait for each other in a circle.
 * On SQLite there is one writer, so only the order remains.
 */
export function forUpdate<Query extends Orderable>(query: Query, column: AnyColumn): Query {
  Reflect.apply(query.orderBy, query, [column])
  if (dialect === 'postgres' && 'for' in query && typeof query.for === 'function') {
    query.for('update')
  }
  return query
}
