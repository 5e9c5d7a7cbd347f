import { and, desc, eq, gte, lt } from 'drizzle-orm'

import type { Db } from '../../../kernel/db/engine.ts'
import { ApiError } from '../../../kernel/errors.ts'
import type { NanoUsd } from '../../../kernel/money.ts'
import type { CoinContext } from './coins.ts'
import { coinOf, valueOf } from './method.ts'
import { credit } from './payments.ts'
import type { StoredInvoice, StoredPayment } from './status.ts'
import { coinPayments, invoices } from './tables.ts'

/** Returns payments that no invoice takes, newest first. */
export const listUnmatched = (
  { db }: Pick<CoinContext, 'db'>,
  limit: number,
): Promise<StoredPayment[]> =>
  db.read
    .select()
    .from(coinPayments)
    .where(eq(coinPayments.state, 'unmatched'))
    .orderBy(desc(coinPayments.seen), desc(coinPayments.id))
    .limit(limit)

/** Returns credited payments from `from` to `to`, newest first, with their accounts. */
export const listCredited = (
  { db }: Pick<CoinContext, 'db'>,
  { from, to, limit, offset = 0 }: { from: number; to: number; limit: number; offset?: number },
) =>
  db.read
    .select({ payment: coinPayments, account: invoices.account })
    .from(coinPayments)
    .leftJoin(invoices, eq(invoices.id, coinPayments.invoice))
    .where(and(gte(coinPayments.credited, from), lt(coinPayments.credited, to)))
    .orderBy(desc(coinPayments.credited), desc(coinPayments.id))
    .limit(limit)
    .offset(offset)

/** A payment that the operator credits to the account of an invoice. */
export interface HandCredit {
  payment: StoredPayment
  invoice: StoredInvoice
  value: NanoUsd
}

/** Finds what to credit by hand, at the present rate. Throws `not_found` and `no_rate`. */
export async function prepareHandCredit(
  ctx: CoinContext,
  { payment: id, invoice: invoiceId }: { payment: string; invoice: string },
): Promise<HandCredit> {
  const { read } = ctx.db
  const [payment] = await read.select().from(coinPayments).where(eq(coinPayments.id, id))
  const coin = payment && coinOf(payment.asset)
  if (!payment || !coin) throw new ApiError('not_found', { what: 'payment' })
  const [invoice] = await read.select().from(invoices).where(eq(invoices.id, invoiceId))
  if (!invoice) throw new ApiError('not_found', { what: 'invoice' })
  const found = await ctx.coins.rates().find(coin.asset)
  if (!found) throw new ApiError('no_rate', { coin: coin.asset })
  return { payment, invoice, value: valueOf(BigInt(payment.amount), found.rate, coin) }
}

/**
 * Credits an unmatched payment inside the caller's transaction, and marks the invoice. Returns
 * false where it was credited before.
 */
export async function creditByHand(
  ctx: CoinContext,
  db: Db,
  { payment, invoice, value }: HandCredit,
  by: string,
): Promise<boolean> {
  if (payment.state !== 'unmatched') return false
  if (!(await credit(ctx, db, payment, { account: invoice.account, value }))) return false
  await db.update(coinPayments).set({ invoice: invoice.id }).where(eq(coinPayments.id, payment.id))
  await db.update(invoices).set({ markedBy: by }).where(eq(invoices.id, invoice.id))
  return true
}
