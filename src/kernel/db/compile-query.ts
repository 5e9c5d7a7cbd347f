import type { SQLQueryBindings } from 'bun:sqlite'

import { Column, is, Param, Placeholder, SQL } from 'drizzle-orm'

import { lazyFor } from '../lazy.ts'
import type { Json } from '../schema.ts'
import { castTo } from './columns.ts'
import { connectionOf } from './connection.ts'
import type { Db, Prepared } from './engine.ts'

interface Decoder {
  mapFromDriverValue(stored: unknown): unknown
}

/** Private fields of drizzle's prepared query for bun:sqlite; compile-query.test.ts checks them. */
interface Parts {
  query: { sql: string; params: unknown[] }
  fields?: { path: string[]; field: unknown }[]
  customResultMapper?: unknown
}

/** A query of any database of the schema. */
export interface CompiledQuery<Rows> {
  bind(db: Db): Prepared<Rows>
}

/**
 * Returns the query of `build` with its binders and column decoders resolved once. drizzle resolves
 * them in every call, which costs more than SQLite itself. A query with nested results stays as it
 * is.
 */
export function compileQuery<Rows>(db: Db, build: (db: Db) => Prepared<Rows>): CompiledQuery<Rows> {
  const { query: built, fields, customResultMapper } = castTo<Parts>(build(db))
  const binders = built.params.map(binderOf)
  const bound = (values: Json) => castTo<SQLQueryBindings[]>(binders.map((bind) => bind(values)))
  const statementOf = (db: Db) => connectionOf(db).prepare(built.sql)
  const columns = fields?.map(columnOf)
  if (customResultMapper || !columns?.every((column) => column !== undefined))
    return { bind: build }
  const rowOf = (stored: unknown[]): Json => {
    const row: Json = {}
    for (let at = 0; at < columns.length; at += 1) {
      const column = columns[at]
      const value = stored[at]
      if (column)
        row[column.name] =
          value === null || column.isPlain ? value : column.decoder.mapFromDriverValue(value)
    }
    return row
  }
  return {
    bind(db) {
      const { values: stored } = statementOf(db)
      return {
        execute: async (values = {}) => castTo<Rows>(stored(...bound(values)).map(rowOf)),
      }
    },
  }
}

/**
 * Returns the query of `compile`, which runs once, bound to each database. A failed transaction
 * replaces its database, and the new one need not build its queries again.
 */
export function compiled<Rows>(
  compile: (db: Db) => CompiledQuery<Rows>,
): (db: Db) => Prepared<Rows> {
  let query: CompiledQuery<Rows> | undefined
  return lazyFor((db) => (query ??= compile(db)).bind(db))
}

/** Returns a function that reads one bound parameter. */
function binderOf(param: unknown): (values: Json) => unknown {
  if (is(param, Placeholder)) return (values) => requiredValue(values, param.name)
  if (!is(param, Param) || !is(param.value, Placeholder)) return () => param
  const { encoder } = param
  const { name } = param.value
  return (values) => encoder.mapToDriverValue(requiredValue(values, name))
}

function requiredValue(values: Json, name: string): unknown {
  if (!Object.hasOwn(values, name)) throw new Error(`The query needs a value for ${name}.`)
  return values[name]
}

/** Returns the name and decoder of a result column; undefined for a nested one. */
function columnOf({ path: [name, ...deeper], field }: { path: string[]; field: unknown }) {
  if (name === undefined || deeper.length > 0) return undefined
  if (is(field, Column)) return columnReader(name, castTo<Decoder>(field))
  if (is(field, SQL)) return columnReader(name, castTo<{ decoder: Decoder }>(field).decoder)
  return undefined
}

/** Returns a column's reader. Most columns need no decoding. */
const columnReader = (name: string, decoder: Decoder) => {
  const { mapFromDriverValue: read } = Column.prototype
  return { name, decoder, isPlain: decoder.mapFromDriverValue === read }
}
