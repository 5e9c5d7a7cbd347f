import type { Static, TSchema } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

import { castTo } from '../../kernel/db/columns.ts'
import type { Db } from '../../kernel/db/engine.ts'
import type { Hold } from './holds.ts'

/** Further rows that a settlement writes in its transaction: a history row, a stored response. */
export interface SettlementRow {
  /** The name of its RowKind. */
  kind: string
  /** JSON, from which another process writes the same rows. */
  data: unknown
  /** A smaller row, for a journal that has no space for `data`. */
  fallback?: Pick<SettlementRow, 'kind' | 'data'>
  /** Locks rows that other transactions lock before they pay. */
  lock?(db: Db): Promise<unknown>
  /** Writes the rows of this kind of all settlements that commit together. */
  write(db: Db, rows: SettledRow[]): Promise<unknown>
}

/** A row with its hold as it ended. */
export interface SettledRow {
  row: SettlementRow
  ended: Hold
}

/** Creates the rows of one kind, for the settlement and from the journal. */
export interface RowKind<Context, Data> {
  kind: string
  create(ctx: Context, data: Data): SettlementRow
  /** Throws for data of another version of the program. */
  parse(ctx: Context, data: unknown): SettlementRow
}

interface RowWriter<Context, Data> {
  lock?(ctx: Context, db: Db, data: Data): Promise<unknown>
  /** An ApiError releases the hold instead. */
  write(ctx: Context, db: Db, rows: { data: Data; ended: Hold }[]): Promise<unknown>
}

/** Defines a kind of settlement rows. `kind` is stored in the journal, so it must not change. */
export function defineRow<Context, Schema extends TSchema>(
  kind: string,
  schema: Schema,
  { lock, write }: RowWriter<Context, Static<Schema>>,
): RowKind<Context, Static<Schema>> {
  // Only rows of this kind are written by it.
  const typed = ({ row, ended }: SettledRow) => ({ data: castTo<Static<Schema>>(row.data), ended })
  const create = (ctx: Context, data: Static<Schema>): SettlementRow => ({
    kind,
    data,
    ...(lock && { lock: (db) => lock(ctx, db, data) }),
    write: (db, rows) => write(ctx, db, rows.map(typed)),
  })
  return {
    kind,
    create,
    parse(ctx, data) {
      if (!Value.Check(schema, data)) throw new Error(`The journal has no valid row ${kind}.`)
      return create(ctx, data)
    },
  }
}
