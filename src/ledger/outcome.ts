import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

import type { Log } from '../core/log.ts'
import { nano, type NanoUsd, zero } from '../core/money.ts'
import type { Clock } from '../core/time.ts'
import type { Engine } from '../db/engine.ts'
import { DatabaseBusy, databaseErrorKind } from '../db/error.ts'
import { ApiError } from '../errors.ts'
import { type ChargeObserver, findHold, type Hold } from './holds.ts'
import { releaseHold, settleHold } from './ledger.ts'
import type { SettlementRow } from './settlement-rows.ts'

/** The parts of AppContext that the end of a hold uses. */
export interface OutcomeContext {
  db: Engine
  clock: Clock
  onCharge?: ChargeObserver | undefined
}

/** The known end of a hold: a charge with its rows, or a release. */
export interface Outcome {
  /** From the journal only the name of the hold is known. */
  hold: Hold | Pick<Hold, 'ref' | 'id'>
  state: 'settled' | 'released'
  charge: NanoUsd
  rows: SettlementRow[]
}

export const releaseOf = (hold: Outcome['hold']): Outcome => ({
  hold,
  state: 'released',
  charge: zero,
  rows: [],
})

/** Returns whether no later attempt can succeed: an ApiError, or another process was first. */
export const isFinal = (error: unknown): boolean =>
  error instanceof ApiError || databaseErrorKind(error) === 'unique'

/**
 * Ends a hold in one transaction with its rows. A hold that has ended is returned as stored; one
 * that was never committed is undefined.
 */
export async function commitOutcome(
  ctx: OutcomeContext,
  { hold: named, state, charge, rows }: Outcome,
): Promise<Hold | undefined> {
  const hold = 'amount' in named ? named : await findHold(ctx.db.read, named)
  if (!hold) return undefined
  return ctx.db.tx(async (db) => {
    if (state === 'released') return releaseHold(db, hold)
    for (const row of rows) await row.lock?.(db)
    return settleHold(ctx, db, hold, charge, async (_db, ended) => {
      for (const row of rows) await row.write(db, ended)
    })
  })
}

/** Rejects with DatabaseBusy after `ms`: a stopped PostgreSQL server never responds. */
export async function withTimeLimit<Value>(ms: number, work: Promise<Value>): Promise<Value> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => {
    late.reject(new DatabaseBusy(`The database did not end a hold within ${ms} ms.`))
  }, ms)
  try {
    return await Promise.race([work, late.promise])
  } finally {
    clearTimeout(timer)
  }
}

const RecordSchema = Type.Object({
  ref: Type.String(),
  id: Type.String(),
  state: Type.Union([Type.Literal('settled'), Type.Literal('released')]),
  charge: Type.String({ pattern: '^\\d+$' }),
  rows: Type.Array(Type.Object({ kind: Type.String(), data: Type.Unknown() })),
})
type StoredRow = Static<typeof RecordSchema>['rows'][number]

/** Formats an outcome for the journal; `short` with the fallbacks of its rows. */
export function formatOutcome({ hold, state, charge, rows }: Outcome, short = false): string {
  const record: Static<typeof RecordSchema> = {
    ref: hold.ref,
    id: hold.id,
    state,
    charge: String(charge),
    rows: rows.map((row) => {
      const { kind, data } = (short && row.fallback) || row
      return { kind, data }
    }),
  }
  return JSON.stringify(record)
}

/** Returns the row of stored data. Throws for data of another version of the program. */
export type RowParser = (data: unknown) => SettlementRow

/** Parses an outcome of the journal. Logs what it cannot read, and leaves it out. */
export function parseOutcome(
  { log }: { log: Log },
  parsers: ReadonlyMap<string, RowParser>,
  text: string,
): Outcome | undefined {
  try {
    const record: unknown = JSON.parse(text)
    if (!Value.Check(RecordSchema, record)) throw new Error('The record has another format.')
    const { ref, id, state, charge } = record
    // The charge is exact also without a row that cannot be written.
    const rows = record.rows.flatMap((row) => parseRow(row, parsers, log) ?? [])
    return { hold: { ref, id }, state, charge: nano(BigInt(charge)), rows }
  } catch (error) {
    log.error('ledger.journal_unread', error)
    return undefined
  }
}

function parseRow(
  { kind, data }: StoredRow,
  parsers: ReadonlyMap<string, RowParser>,
  log: Log,
): SettlementRow | undefined {
  try {
    const parse = parsers.get(kind)
    if (!parse) throw new Error(`There is no kind of rows "${kind}".`)
    return parse(data)
  } catch (error) {
    log.error('ledger.journal_row_unread', error, { kind })
    return undefined
  }
}
