import { and, asc, desc, eq, gte, inArray, lt } from 'drizzle-orm'

import type { Db } from '../../../kernel/db/engine.ts'
import { changedRowCount, lock } from '../../../kernel/db/query.ts'
import { ApiError } from '../../../kernel/errors.ts'
import { newId } from '../../../kernel/ids.ts'
import type { NanoUsd } from '../../../kernel/money.ts'
import { grant } from '../../ledger/ledger.ts'
import type { CoinContext } from './coins.ts'
import { coinOf, requiredConfirmations, valueOf } from './method.ts'
import type { AccountId, ObservedPayment, StoredInvoice, StoredPayment } from './status.ts'
import { coinPayments, invoices } from './tables.ts'

const keyOf = ({ network, tx, output }: Pick<StoredPayment, 'network' | 'tx' | 'output'>) =>
  and(eq(coinPayments.network, network), eq(coinPayments.tx, tx), eq(coinPayments.output, output))

/**
 * Stores a payment, and credits it once when it has its confirmations. Returns the id of its row,
 * which it also has after a reorganization moved it in its block (docs/decisions/0094).
 */
export async function recordPayment(
  ctx: CoinContext,
  network: string,
  observed: ObservedPayment,
): Promise<string> {
  const { block, confirmations, invoice } = observed
  const { known } = await findRow(ctx.db.read, network, observed)
  if (known?.state === 'credited' || known?.state === 'unmatched') return known.id
  const rate = await rateFor(ctx, observed, known)
  const coin = coinOf(observed.asset)
  const isDone =
    confirmations >= requiredConfirmations(ctx.config, network) && rate !== null && coin
  const isSame = known?.confirmations === confirmations && known.state === 'seen'
  if (isSame && !isDone) return known.id
  const value = isDone ? valueOf(observed.amount, rate, coin) : null
  return ctx.db.tx(async (db) => {
    // Two processes that see the chain before and after a reorganization find the same row.
    await lock(db, `payments of ${network}:${observed.tx}`)
    const { known: stored, output } = await findRow(db, network, observed)
    const row = stored ?? { ...newPayment(ctx, network, observed), output }
    if (!stored) await db.insert(coinPayments).values(row)
    if (!invoice || row.state === 'unmatched') return row.id
    await db
      .update(coinPayments)
      .set({ state: 'seen', block, confirmations, rate })
      .where(and(keyOf(row), inArray(coinPayments.state, ['seen', 'replaced'])))
    if (value !== null) await credit(ctx, db, row, { account: invoice.account, value })
    return row.id
  })
}

/** States by what a row means for the chain: money that was decided about, on it, or gone. */
const ranks: Record<StoredPayment['state'], number> = {
  credited: 0,
  unmatched: 0,
  seen: 1,
  replaced: 2,
}

/**
 * Returns the row of an observed payment, and an output for a new one. Equal transfers of a
 * transaction are interchangeable: as many rows as there are on the chain count, those first that
 * were credited.
 */
async function findRow(
  db: Db,
  network: string,
  { tx, output, place, address, asset, amount }: ObservedPayment,
): Promise<{ known: StoredPayment | undefined; output: number }> {
  const isOfTx = and(eq(coinPayments.network, network), eq(coinPayments.tx, tx))
  const rows = await db.select().from(coinPayments).where(isOfTx).orderBy(asc(coinPayments.output))
  if (place === undefined) return { known: rows.find((row) => row.output === output), output }
  const equal = rows
    .filter((row) => row.asset === asset && row.address === address)
    .filter((row) => row.amount === amount.toString())
    .toSorted((one, other) => ranks[one.state] - ranks[other.state])
  const isTaken = rows.some((row) => row.output === output)
  const next = (rows.at(-1)?.output ?? output) + 1
  return { known: equal[place], output: isTaken ? next : output }
}

/** The rate of a payment: that of its invoice, or of the time when a late one was first seen. */
async function rateFor(
  ctx: CoinContext,
  { asset, invoice, at }: ObservedPayment,
  known: StoredPayment | undefined,
): Promise<NanoUsd | null> {
  if (known?.rate != null) return known.rate
  if (!invoice || invoice.asset !== asset) return null
  if (!isLate(ctx, invoice, at)) return invoice.rate
  return (await ctx.coins.rates().find(coinOf(asset)?.asset ?? 'USDT'))?.rate ?? null
}

const isLate = ({ clock }: CoinContext, { expires }: StoredInvoice, at?: number): boolean =>
  Math.min(clock.now(), at ?? Infinity) >= expires

function newPayment(ctx: CoinContext, network: string, observed: ObservedPayment): StoredPayment {
  const { tx, output, address, asset, amount, block, confirmations, invoice, at } = observed
  const isMatch = invoice?.asset === asset
  return {
    network,
    tx,
    output,
    id: newId(),
    invoice: invoice?.id ?? null,
    address,
    asset,
    amount: amount.toString(),
    state: isMatch ? 'seen' : 'unmatched',
    block,
    confirmations,
    rate: null,
    isLate: invoice && isLate(ctx, invoice, at) ? 1 : 0,
    value: null,
    why: isMatch ? null : invoice ? `${asset} to an invoice of ${invoice.asset}` : 'no invoice',
    seen: ctx.clock.now(),
    credited: null,
  }
}

/** Credits a payment that was not credited yet, inside the caller's transaction. */
async function credit(
  ctx: CoinContext,
  db: Db,
  payment: StoredPayment,
  { account, value }: { account: AccountId; value: NanoUsd },
): Promise<boolean> {
  const changed = await db
    .update(coinPayments)
    .set({ state: 'credited', value, credited: ctx.clock.now() })
    .where(and(keyOf(payment), inArray(coinPayments.state, ['seen', 'replaced', 'unmatched'])))
  if (changedRowCount(changed) === 0) return false
  // Dust can be worth less than a billionth of a USD.
  if (value === 0n) return true
  const { network, tx, output } = payment
  const ref = `topup:${network}:${tx}:${output}`
  const item = payment.invoice ?? payment.id
  await grant(ctx, db, { account, amount: value, kind: 'topup', item, ref, free: false })
  return true
}

/** Returns the payments of a network that wait for confirmations. */
export const listUnconfirmed = ({ db }: CoinContext, network: string): Promise<StoredPayment[]> =>
  db.read
    .select()
    .from(coinPayments)
    .where(and(eq(coinPayments.network, network), inArray(coinPayments.state, ['seen'])))

/** Marks payments that the chain no longer shows. They count again when it shows them again. */
export async function markReplaced(ctx: CoinContext, gone: StoredPayment[]): Promise<void> {
  for (const payment of gone) {
    ctx.log.info('topup_payment_replaced', { payment: payment.id, invoice: payment.invoice })
    await ctx.db.tx((db) =>
      db
        .update(coinPayments)
        .set({ state: 'replaced', confirmations: 0, block: null })
        .where(and(keyOf(payment), eq(coinPayments.state, 'seen'))),
    )
  }
}

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
