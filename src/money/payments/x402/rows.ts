import { and, desc, eq, gte, inArray, isNotNull, isNull, ne, sql } from 'drizzle-orm'

import type { Db } from '../../../kernel/db/engine.ts'
import { changedRowCount, hasRows } from '../../../kernel/db/query.ts'
import { nano, type NanoUsd } from '../../../kernel/money.ts'
import { day } from '../../../kernel/time.ts'
import type { AuthorizationId } from './headers.ts'
import { payments, type PaymentState, usedTransfers } from './tables.ts'

export type PaymentRow = typeof payments.$inferSelect

const isRow = ({ network, payer, nonce }: AuthorizationId) =>
  and(eq(payments.network, network), eq(payments.payer, payer), eq(payments.nonce, nonce))

export async function findPayment(db: Db, id: AuthorizationId): Promise<PaymentRow | undefined> {
  const [row] = await db.select().from(payments).where(isRow(id))
  return row
}

/** Stores a payment. Returns false when its authorization is already stored. */
export async function insertPayment(db: Db, row: PaymentRow): Promise<boolean> {
  return changedRowCount(await db.insert(payments).values(row).onConflictDoNothing()) === 1
}

type Change = Partial<Omit<PaymentRow, keyof AuthorizationId | 'account' | 'amount' | 'created'>>

/** Changes a payment that is still in state `from`. Returns false when it is not. */
export async function updatePayment(
  db: Db,
  id: AuthorizationId,
  from: PaymentState,
  change: Change,
): Promise<boolean> {
  const changed = db
    .update(payments)
    .set(change)
    .where(and(isRow(id), eq(payments.state, from)))
  return changedRowCount(await changed) === 1
}

/** Marks a payment as credited. Returns false when it already is. */
export async function markCredited(db: Db, id: AuthorizationId, at: number): Promise<boolean> {
  const changed = db
    .update(payments)
    .set({ credited: at })
    .where(and(isRow(id), isNull(payments.credited)))
  return changedRowCount(await changed) === 1
}

/** Returns the payment whose transaction a gas wallet has on its way. */
export async function findSending(
  db: Db,
  network: string,
  wallet: string,
): Promise<PaymentRow | undefined> {
  const isSending = and(eq(payments.network, network), eq(payments.wallet, wallet))
  const [row] = await db
    .select()
    .from(payments)
    .where(and(isSending, eq(payments.state, 'sent')))
  return row
}

/** Returns the payments of a chain that may still change, oldest first. */
export const listOpen = (db: Db, network: string, limit: number): Promise<PaymentRow[]> =>
  db
    .select()
    .from(payments)
    .where(
      and(eq(payments.network, network), inArray(payments.state, ['received', 'sent', 'mined'])),
    )
    .orderBy(payments.created)
    .limit(limit)

/** Returns what was paid since a moment, with payments that are on their way. */
export async function paidSince(db: Db, at: number): Promise<NanoUsd> {
  const [row] = await db
    .select({ sum: sql<string | null>`sum(${payments.amount})` })
    .from(payments)
    .where(and(gte(payments.created, at), ne(payments.state, 'rejected')))
  return nano(BigInt(row?.sum ?? 0))
}

/** Payments of credits on one UTC day, which begins at `at`. Shares of runs go to their makers. */
export interface DailyCredits {
  at: number
  count: number
  amount: NanoUsd
}

/** Age of a payment at its credit, which only an outage of the server can exceed. */
const creditAgeMax = 30 * day

/** Returns what agents paid for credits since a moment, by UTC day, newest first. */
export async function listDailyCredits(db: Db, since: number): Promise<DailyCredits[]> {
  const date = sql<number | string>`${payments.credited} / ${sql.raw(String(day))}`
  const rows = await db
    .select({
      date,
      count: sql<number | string>`count(*)`,
      sum: sql<string>`sum(${payments.amount})`,
    })
    .from(payments)
    .where(
      and(
        // The index is by creation.
        gte(payments.created, since - creditAgeMax),
        gte(payments.credited, since),
        isNull(payments.run),
      ),
    )
    .groupBy(sql`1`)
    .orderBy(sql`1 desc`)
  return rows.map((row) => ({
    at: Number(row.date) * day,
    count: Number(row.count),
    amount: nano(BigInt(row.sum)),
  }))
}

/** Returns the newest payments of credits that were credited, newest first. */
export const listCreditPayments = (db: Db, limit: number): Promise<PaymentRow[]> =>
  db
    .select()
    .from(payments)
    .where(and(isNotNull(payments.credited), isNull(payments.run)))
    .orderBy(desc(payments.credited), desc(payments.nonce))
    .limit(limit)

/** A transfer on a chain. */
export interface Transfer extends Pick<typeof usedTransfers.$inferSelect, 'network' | 'tx'> {
  /** Its identity in the transaction, which a reorganization keeps. */
  id: number
  /** The present index of its event in the block. */
  log: number
}

/** Marks a transfer as used. Returns false when it already paid for something. */
export async function useTransfer(
  db: Db,
  { network, tx, id, log }: Transfer,
  at: number,
): Promise<boolean> {
  const isOfTx = and(eq(usedTransfers.network, network), eq(usedTransfers.tx, tx))
  // Rows of versions before this identity.
  if (await hasRows(db, usedTransfers, and(isOfTx, eq(usedTransfers.log, log)))) return false
  const added = db.insert(usedTransfers).values({ network, tx, log: id, at }).onConflictDoNothing()
  return changedRowCount(await added) === 1
}

/** Returns whether a transaction has a used transfer, or settles a payment by x402. */
export async function isTransactionUsed(
  db: Db,
  { network, tx }: Pick<Transfer, 'network' | 'tx'>,
): Promise<boolean> {
  const isUsed = and(eq(usedTransfers.network, network), eq(usedTransfers.tx, tx))
  const isPayment = and(eq(payments.network, network), eq(payments.hash, tx))
  return (await hasRows(db, usedTransfers, isUsed)) || hasRows(db, payments, isPayment)
}

/** Returns the newest payments, for the operator. */
export const listNewest = (db: Db, limit: number): Promise<PaymentRow[]> =>
  db.select().from(payments).orderBy(desc(payments.created)).limit(limit)
