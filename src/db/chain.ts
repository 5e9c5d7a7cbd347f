import {
  and,
  getTableColumns,
  type Placeholder,
  type SQL,
  sql,
  type WithSubquery,
} from 'drizzle-orm'
import type { PgDatabase, PgQueryResultHKT } from 'drizzle-orm/pg-core'
import type { SQLiteInsertValue, SQLiteTable } from 'drizzle-orm/sqlite-core'

import { lazyFor } from '../core/lazy.ts'
import { castTo } from './columns.ts'
import { compiled, type CompiledQuery, compileQuery } from './compile-query.ts'
import { dialect } from './dialect.ts'
import type { Db, Prepared } from './engine.ts'
import { changedRowCount } from './query.ts'

/** A write of a chain, as later writes see it. */
export interface Step<Row> {
  readonly name: string
  /** The condition that it changed a row. */
  readonly isDone: SQL
  /** A column of its `returning`, in its row or in the row with the values of `where`. */
  value(column: keyof Row & string, where?: Where): SQL
}

type Where = Record<string, string | Placeholder>
type RowValues = Record<string, SQL | Placeholder>
interface Query<Rows> {
  prepare(): Prepared<Rows>
}

/** Adds the steps of a chain. */
interface Chain {
  /** Adds a write. SQLite changes a row faster without a `returning`. */
  write<Rows>(name: string, query: Query<Rows>): Step<Rows extends (infer Row)[] ? Row : object>
  /** Adds the insert of a row, with a value of each column, if an earlier step changed a row. */
  insertAfter(before: Step<unknown>, table: SQLiteTable, values: RowValues): void
}

type Row = Record<string, unknown>
type Build<Steps> = (db: Db, chain: Chain) => Steps
type RowsOf<Steps> = {
  [Name in keyof Steps]?: Steps[Name] extends Step<infer Found> ? Found : never
}

/**
 * Returns writes that run as one statement on PostgreSQL (a WITH that writes), and in turn on
 * SQLite. They are prepared once per database. The result has a row of each step that `build`
 * returns; undefined for a step that changed none.
 *
 * PostgreSQL runs a step before those that use its `isDone` or `value`; other steps have no order.
 * All steps see the rows as they were before the statement, so a chain changes a row once.
 */
export const chained = <Steps extends Record<string, unknown>>(
  build: Build<Steps>,
): ((db: Db) => Prepared<RowsOf<Steps>>) =>
  castTo<(db: Db) => Prepared<RowsOf<Steps>>>(
    dialect === 'postgres'
      ? lazyFor((db: Db) => inOneStatement(db, build))
      : compiled((db) => inOrder(db, build)),
  )

/** A value of a step that a later one binds on SQLite. */
interface Link {
  name: string
  read(rows: Row[], values: Row): unknown
}

interface CompiledStep {
  name: string
  query: CompiledQuery<unknown>
  links: Link[]
  after?: string
}
type BoundStep = Omit<CompiledStep, 'query'> & { query: Prepared<unknown> }

function inOrder<Steps extends object>(db: Db, build: Build<Steps>): CompiledQuery<Row> {
  const steps: CompiledStep[] = []
  const write: Chain['write'] = (name, query) => {
    const links: Link[] = []
    steps.push({ name, query: compileQuery(db, () => query.prepare()), links })
    const link = (read: Link['read']): SQL => {
      const bound = `${name}.${links.length}`
      links.push({ name: bound, read })
      return sql`${sql.placeholder(bound)}`
    }
    return {
      name,
      isDone: link((rows) => (rows.length > 0 ? 1 : 0)),
      value(column, where) {
        const isFound = where && matcherOf(where)
        return link((rows, values) => {
          const found = isFound ? rows.find((row) => isFound(row, values)) : rows[0]
          return found?.[column] ?? null
        })
      },
    }
  }
  build(db, {
    write,
    insertAfter({ name: after }, table, values) {
      const query = db.insert(table).values(castTo<SQLiteInsertValue<SQLiteTable>>(values))
      steps.push({ name: '', query: compileQuery(db, () => query.prepare()), links: [], after })
    },
  })
  return {
    bind(boundTo) {
      const bound = steps.map(({ query, ...step }) => ({ ...step, query: query.bind(boundTo) }))
      return { execute: (given = {}) => runInOrder(bound, given) }
    },
  }
}

async function runInOrder(steps: BoundStep[], given: Row): Promise<Row> {
  const values: Row = { ...given }
  const found: Row = {}
  for (const { name, query, links, after } of steps) {
    if (after !== undefined && !found[after]) continue
    const result = await query.execute(values)
    const isChanged = !Array.isArray(result) && changedRowCount(result) > 0
    const rows: Row[] = Array.isArray(result) ? result : isChanged ? [{}] : []
    for (const { name: bound, read } of links) values[bound] = read(rows, values)
    found[name] = rows[0]
  }
  return found
}

function matcherOf(where: Where): (row: Row, values: Row) => boolean {
  const terms = Object.entries(where)
  return (row, values) =>
    terms.every(
      ([column, equal]) => row[column] === (typeof equal === 'string' ? equal : values[equal.name]),
    )
}

/** drizzle's PostgreSQL database, which the rest of the code sees as a SQLite one. */
type PgDb = PgDatabase<PgQueryResultHKT>
type Part = WithSubquery & Record<string, SQL>

function inOneStatement<Steps extends object>(db: Db, build: Build<Steps>): Prepared<Row> {
  const pg = castTo<PgDb>(db)
  const parts = new Map<string, Part>()
  const write: Chain['write'] = (name, query) => {
    const part = castTo<Part>(pg.$with(name).as(castTo<never>(withReturning(name, query))))
    parts.set(name, part)
    return {
      name,
      isDone: sql`exists (select 1 from ${part})`,
      value: (column, where = {}) => {
        const terms = Object.entries(where).map(([key, equal]) => sql`${part[key]} = ${equal}`)
        return sql`(select ${part[column]} from ${part} where ${and(sql`true`, ...terms)})`
      },
    }
  }
  const results = build(db, {
    write,
    insertAfter({ isDone }, table, values) {
      const columns = Object.keys(getTableColumns(table)).map((name) => sql`${values[name]}`)
      const row = sql`select ${sql.join(columns, sql`, `)} where ${isDone}`
      write(`inserted${parts.size}`, db.insert(table).select(row))
    },
  })
  const fields = [...parts]
    .filter(([name]) => Object.hasOwn(results, name))
    .flatMap(([name, part]) =>
      Object.keys(part._.selectedFields).map((column) => ({ name, column, field: part[column] })),
    )
  const select = pg
    .with(...parts.values())
    .select(
      castTo<Record<string, SQL>>(Object.fromEntries(fields.map(({ field }, at) => [at, field]))),
    )
    .from(sql`(select 1) as one`)
    .$dynamic()
  for (const [name, part] of parts)
    if (Object.hasOwn(results, name)) select.leftJoin(part, sql`true`)
  const query = select.prepare('')
  return {
    async execute(values) {
      const [row] = await query.execute(values)
      const found: Record<string, Row> = {}
      fields.forEach(({ name, column }, at) => {
        const value: unknown = row?.[at]
        if (value !== null) found[name] = { ...found[name], [column]: value }
      })
      return found
    },
  }
}

/** Returns a write whose row later steps can see. */
function withReturning(name: string, query: object): unknown {
  const { getSelectedFields, returning } = castTo<{
    getSelectedFields(): object | undefined
    returning(fields: object): unknown
  }>(query)
  if (getSelectedFields.call(query)) return query
  return returning.call(query, { isDone: sql`1`.as(`is_${name}`) })
}
