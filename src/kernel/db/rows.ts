/**
 * Statements over lists of rows, without values but those of the rows. A list runs in pieces of
 * fixed lengths, so that each text is built once and stays prepared.
 */
import type { SQLQueryBindings } from 'bun:sqlite'

import { and, type Column, count, getTableColumns, inArray, or, type SQL, sql } from 'drizzle-orm'
import type { SQLiteColumn, SQLiteInsertValue, SQLiteTable } from 'drizzle-orm/sqlite-core'

import type { Json } from '../schema.ts'
import { castTo, dialect } from './columns.ts'
import { connectionOf } from './connection.ts'
import type { Db } from './engine.ts'
import { changedRowCount, forUpdate, placeholders } from './query.ts'

/** Rows in one statement. */
const pieces = [64, 32, 16, 8, 4, 3, 2, 1] as const

interface Query {
  toSQL(): { sql: string }
}

type Columns = Record<string, Column>

/** The rows that a statement returned, as arrays of columns. */
type Result = unknown[][]

/** Runs texts of a PostgreSQL transaction: its client in drizzle's database. */
interface PostgresClient {
  unsafe(text: string, values: unknown[]): PromiseLike<Result> & { values(): Promise<Result> }
}

const run = (db: Db, text: string, values: unknown[]): Result | Promise<Result> =>
  dialect === 'postgres'
    ? castTo<{ $client: PostgresClient }>(db).$client.unsafe(text, values).values()
    : connectionOf(db)
        .prepare(text)
        .values(...castTo<SQLQueryBindings[]>(values))

/** Writes without a result. Returns the number of changed rows. */
const write = async (db: Db, text: string, values: unknown[]): Promise<number> =>
  changedRowCount(
    dialect === 'postgres'
      ? await run(db, text, values)
      : connectionOf(db)
          .prepare(text)
          .run(...castTo<SQLQueryBindings[]>(values)),
  )

/** Returns a function that remembers the text of a query for each length. */
function textOf(build: (db: Db, length: number) => Query): (db: Db, length: number) => string {
  const texts = new Map<number, string>()
  return (db, length) => {
    const known = texts.get(length)
    if (known !== undefined) return known
    const { sql: text } = build(db, length).toSQL()
    texts.set(length, text)
    return text
  }
}

/** Runs a list in pieces. None waits for the one before, and PostgreSQL runs them in this order. */
function inPieces<Item, Done>(
  items: readonly Item[],
  runPiece: (piece: readonly Item[]) => Done | Promise<Done>,
): Promise<Done[]> {
  const running: (Done | Promise<Done>)[] = []
  for (let at = 0; at < items.length;) {
    const length = pieces.find((piece) => piece <= items.length - at) ?? 1
    running.push(runPiece(items.slice(at, at + length)))
    at += length
  }
  return Promise.all(running)
}

const sum = (counts: number[]): number => counts.reduce((all, one) => all + one, 0)

function decode<Row>(columns: [string, Column][], result: Result): Row[] {
  return result.map((stored) => {
    const row: Json = {}
    let at = 0
    for (const [name, column] of columns) {
      const value = stored[at]
      row[name] = value === null ? null : column.mapFromDriverValue(value)
      at += 1
    }
    return castTo<Row>(row)
  })
}

/** Returns the values of rows in the order of an insert. */
function valuesOf(columns: [string, Column][], rows: readonly Json[]): unknown[] {
  const values: unknown[] = []
  for (const row of rows)
    for (const [name, column] of columns) values.push(column.mapToDriverValue(row[name]))
  return values
}

type Row<T extends SQLiteTable> = T['$inferSelect']
type Insert<T extends SQLiteTable> = (db: Db, rows: SQLiteInsertValue<T>[]) => Query

const insertText = <T extends SQLiteTable>(table: T, build: Insert<T>) =>
  textOf((db, length) =>
    build(
      db,
      Array.from({ length }, () => placeholders(table)),
    ),
  )

/** Inserts whole rows with the statement of `build`. Returns the number of written rows. */
export function insertRows<T extends SQLiteTable>(
  table: T,
  build: Insert<T>,
): (db: Db, rows: readonly Row<T>[]) => Promise<number> {
  const text = insertText(table, build)
  const columns = Object.entries<Column>(getTableColumns(table))
  return async (db, rows) =>
    sum(
      await inPieces(rows, (piece) => write(db, text(db, piece.length), valuesOf(columns, piece))),
    )
}

/** Inserts whole rows with the statement of `build`, which returns `returned` of each. */
export function insertReturning<T extends SQLiteTable, Found>(
  table: T,
  returned: Columns,
  build: Insert<T>,
): (db: Db, rows: readonly Row<T>[]) => Promise<Found[]> {
  const text = insertText(table, build)
  const columns = Object.entries<Column>(getTableColumns(table))
  const all = Object.entries(returned)
  return async (db, rows) => {
    const results = await inPieces(rows, (piece) =>
      run(db, text(db, piece.length), valuesOf(columns, piece)),
    )
    return results.flatMap((result) => decode<Found>(all, result))
  }
}

/**
 * Updates rows with the statement of `build`, which has the columns of each row as the table
 * `changed` (column1, column2 ...). Returns the number of changed rows.
 */
export function updateRows<T extends SQLiteTable>(
  table: T,
  names: (keyof Row<T> & string)[],
  build: (db: Db, changed: SQL) => Query,
): (db: Db, rows: readonly Row<T>[]) => Promise<number> {
  const columns = Object.entries<SQLiteColumn>(getTableColumns(table))
  const named = names.flatMap((name) => columns.filter(([key]) => key === name))
  const cast = named.map(
    ([name, column]) => sql`cast(${sql.placeholder(name)} as ${sql.raw(column.getSQLType())})`,
  )
  const text = textOf((db, length) => {
    const rows = Array.from({ length }, () => sql`(${sql.join(cast, sql`, `)})`)
    return build(db, sql`(values ${sql.join(rows, sql`, `)}) as changed`)
  })
  return async (db, rows) =>
    sum(await inPieces(rows, (piece) => write(db, text(db, piece.length), valuesOf(named, piece))))
}

/**
 * Returns the rows that match one of several keys, and locks them in the order of `column`.
 * `matches` is the condition for one key: a value, or a list of as many values as placeholders.
 */
export function selectRows<T extends SQLiteTable>(
  table: T,
  column: SQLiteColumn,
  matches: (value: () => SQL) => SQL | undefined,
): (db: Db, keys: readonly unknown[]) => Promise<Row<T>[]> {
  const text = textOf((db, length) => {
    const value = () => sql`${sql.placeholder('key')}`
    const keys = Array.from({ length }, () => matches(value))
    return forUpdate(
      db
        .select()
        .from(table)
        .where(or(...keys))
        .$dynamic(),
      column,
    )
  })
  const columns = Object.entries<Column>(getTableColumns(table))
  return async (db, keys) => {
    const results = await inPieces(keys, (piece) => run(db, text(db, piece.length), piece.flat()))
    return results.flatMap((result) => decode<Row<T>>(columns, result))
  }
}

/** Returns how many rows that match `where` have each of several values in a column. */
export function countBy(
  table: SQLiteTable,
  column: SQLiteColumn,
  where: SQL,
): (db: Db, values: readonly string[]) => Promise<Map<string, number>> {
  const text = textOf((db, length) => {
    const values = Array.from({ length }, () => sql.placeholder('value'))
    return db
      .select({ value: column, rows: count() })
      .from(table)
      .where(and(inArray(column, values), where))
      .groupBy(column)
  })
  return async (db, values) => {
    const results = await inPieces(values, (piece) => run(db, text(db, piece.length), [...piece]))
    return new Map(results.flat().map(([value, rows]) => [String(value), Number(rows)]))
  }
}
