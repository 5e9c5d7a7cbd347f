import { Column, is, Param, Placeholder, SQL } from 'drizzle-orm'

import { seenAs } from './columns.ts'
import type { Prepared } from './engine.ts'

type Values = Record<string, unknown>

interface Decoder {
  mapFromDriverValue(stored: unknown): unknown
}

/** What drizzle's prepared query for bun:sqlite is made of. */
interface Parts {
  query: { params: unknown[] }
  stmt: { run(...values: unknown[]): unknown; values(...values: unknown[]): unknown[][] }
  fields?: { path: string[]; field: unknown }[]
  executeMethod: 'run' | 'all' | 'get'
  customResultMapper?: unknown
}

/**
 * The same query, whose values and columns are looked through once, where drizzle asks each of them
 * in every call what it is: that costs more than SQLite does. What is not flat stays drizzle's.
 */
export function compiled<Rows>(query: Prepared<Rows>): Prepared<Rows> {
  const { query: built, stmt, fields, ...more } = seenAs<Parts>(query)
  const { executeMethod, customResultMapper } = more
  if (customResultMapper) return query
  const binders = built.params.map(binderOf)
  const bound = (values: Values): unknown[] => binders.map((bind) => bind(values))
  if (executeMethod === 'run') {
    return { execute: async (values = {}) => seenAs<Rows>(stmt.run(...bound(values))) }
  }
  const columns = fields?.map(columnOf)
  if (executeMethod !== 'all' || !columns?.every((column) => column !== undefined)) return query
  const rowOf = (stored: unknown[]): Values => {
    const row: Values = {}
    for (let at = 0; at < columns.length; at += 1) {
      const column = columns[at]
      const value = stored[at]
      if (column)
        row[column.name] =
          value === null || column.isPlain ? value : column.decoder.mapFromDriverValue(value)
    }
    return row
  }
  return { execute: async (values = {}) => seenAs<Rows>(stmt.values(...bound(values)).map(rowOf)) }
}

/** How a parameter is had from the values of a call. */
function binderOf(param: unknown): (values: Values) => unknown {
  if (is(param, Placeholder)) return (values) => given(values, param.name)
  if (!is(param, Param) || !is(param.value, Placeholder)) return () => param
  const { encoder } = param
  const { name } = param.value
  return (values) => encoder.mapToDriverValue(given(values, name))
}

function given(values: Values, name: string): unknown {
  if (!(name in values)) throw new Error(`No value was given for ${name}.`)
  return values[name]
}

/** Where a column's value goes, and how it is read; undefined where it lies deeper. */
function columnOf({ path: [name, ...deeper], field }: { path: string[]; field: unknown }) {
  if (name === undefined || deeper.length > 0) return undefined
  if (is(field, Column)) return readBy(name, seenAs<Decoder>(field))
  if (is(field, SQL)) return readBy(name, seenAs<{ decoder: Decoder }>(field).decoder)
  return undefined
}

/** Most columns are read as they are stored. */
const readBy = (name: string, decoder: Decoder) => {
  const { mapFromDriverValue: read } = Column.prototype
  return { name, decoder, isPlain: decoder.mapFromDriverValue === read }
}
