import { and, asc, count, eq, gt, inArray, max, sql } from 'drizzle-orm'

import type { PagePosition } from '../../../kernel/cursor.ts'
import type { Db } from '../../../kernel/db/engine.ts'
import { listNewest, lock } from '../../../kernel/db/query.ts'
import { ApiError } from '../../../kernel/errors.ts'
import { idPattern, newId, sha256 } from '../../../kernel/ids.ts'
import type { NanoUsd } from '../../../kernel/money.ts'
import { minute, secondsUntil } from '../../../kernel/time.ts'
import { btcAddressAt, evmAddressAt, newSolReference, paymentUri } from './addresses.ts'
import type { CoinContext } from './coins.ts'
import {
  coins,
  lateMs,
  type Method,
  missingSetting,
  networkOf,
  openInvoicesMax,
  pollAfter,
  unitsFor,
} from './method.ts'
import type { AccountId, StoredInvoice, StoredPayment } from './status.ts'
import { coinPayments, invoices } from './tables.ts'
import { isBlind } from './watchers.ts'

interface InvoiceRequest {
  account: AccountId
  method: Method
  amount: NanoUsd
}

/**
 * Creates an invoice with an address of its own and a fixed rate. Throws `payments_off`, `no_rate`,
 * `topups_limit`.
 */
export async function createInvoice(
  ctx: CoinContext,
  { account, method, amount }: InvoiceRequest,
): Promise<StoredInvoice> {
  const { config, clock } = ctx
  const setting = missingSetting(config, method)
  if (setting !== undefined) throw new ApiError('payments_off', { setting })
  const network = networkOf(config, method)
  if (await isBlind(ctx, network)) {
    throw new ApiError('payments_off', { setting: serversOf(method), isSet: true })
  }
  const coin = coins[method]
  const found = await ctx.coins.rates().find(coin.asset)
  if (!found) throw new ApiError('no_rate', { coin: coin.asset })
  const { rate, source } = found
  const due = unitsFor(amount, rate, coin)
  const wallet = sha256(walletKey(ctx, method)).slice(0, 16)
  const reference = method === 'sol' ? await newSolReference() : null
  return ctx.db.tx(async (db) => {
    // Invoices of other wallets count too.
    await lock(db, `invoices for ${account}`)
    // One lock for a wallet: two invoices never get the same address.
    await lock(db, `invoices of ${wallet}`)
    const now = clock.now()
    await checkOpenInvoices(db, account, now)
    const path = method === 'sol' ? null : await nextPath(db, wallet)
    const address = await addressAt(ctx, method, path)
    const expires = now + coin.lockMs
    const invoice: StoredInvoice = {
      id: newId(),
      account,
      method,
      network,
      asset: coin.asset,
      wallet,
      path,
      address,
      reference,
      amount,
      due: due.toString(),
      rate,
      rateSource: source,
      uri: paymentUri(config, coin, { address, reference, due }),
      markedBy: null,
      created: now,
      expires,
      watchedUntil: expires + lateMs,
      pollAt: now,
    }
    await db.insert(invoices).values(invoice)
    return invoice
  })
}

/** Returns the setting that has the servers of a method. */
function serversOf(method: Method): string {
  if (method === 'btc') return 'TOPUP_BTC_ESPLORA_URLS'
  return method === 'sol' ? 'TOPUP_SOL_RPC_URLS' : 'TOPUP_EVM_RPC_URLS'
}

const walletKey = ({ config }: CoinContext, method: Method): string => {
  if (method === 'btc') return config.topupBtcXpub
  return method === 'sol' ? config.topupSolRecipient : config.topupEvmXpub
}

async function addressAt({ config }: CoinContext, method: Method, path: number | null) {
  if (path === null) return config.topupSolRecipient
  return method === 'btc' ? btcAddressAt(config, path) : evmAddressAt(config.topupEvmXpub, path)
}

async function nextPath(db: Db, wallet: string): Promise<number> {
  const [row] = await db
    .select({ last: max(invoices.path).mapWith(Number) })
    .from(invoices)
    .where(eq(invoices.wallet, wallet))
  return row?.last == null ? 0 : row.last + 1
}

/** Throws `topups_limit` for an account with too many unpaid invoices. */
async function checkOpenInvoices(db: Db, account: AccountId, now: number): Promise<void> {
  const isPaid = sql`exists (select 1 from ${coinPayments} where ${coinPayments.invoice} = ${invoices.id})`
  const [row] = await db
    .select({ open: count(), first: sql<number>`min(${invoices.expires})`.mapWith(Number) })
    .from(invoices)
    .where(and(eq(invoices.account, account), gt(invoices.expires, now), sql`not ${isPaid}`))
  if (!row || row.open < openInvoicesMax) return
  const retryAfter = secondsUntil(row.first, now)
  throw new ApiError('topups_limit', { max: openInvoicesMax, retryAfter })
}

export interface InvoiceWithPayments {
  invoice: StoredInvoice
  payments: StoredPayment[]
}

async function withPayments(db: Db, rows: StoredInvoice[]): Promise<InvoiceWithPayments[]> {
  const ids = rows.map(({ id }) => id)
  const all =
    ids.length === 0
      ? []
      : await db
          .select()
          .from(coinPayments)
          .where(inArray(coinPayments.invoice, ids))
          .orderBy(asc(coinPayments.seen), asc(coinPayments.id))
  return rows.map((invoice) => ({
    invoice,
    payments: all.filter((payment) => payment.invoice === invoice.id),
  }))
}

/** Finds an invoice. With `account`, only one of this account. */
export async function findInvoice(
  { db }: Pick<CoinContext, 'db'>,
  id: string,
  account?: AccountId,
): Promise<InvoiceWithPayments | undefined> {
  // PostgreSQL fails on a NUL.
  if (!idPattern.test(id)) return undefined
  const [invoice] = await db.read.select().from(invoices).where(eq(invoices.id, id))
  if (!invoice || (account !== undefined && invoice.account !== account)) return undefined
  const [found] = await withPayments(db.read, [invoice])
  return found
}

/** Returns invoices, newest first; of all accounts, or of one. */
export async function listInvoices(
  { db }: Pick<CoinContext, 'db'>,
  {
    account,
    limit,
    after,
  }: { account?: AccountId; limit: number; after?: PagePosition | undefined },
): Promise<InvoiceWithPayments[]> {
  const isOwn = account === undefined ? undefined : eq(invoices.account, account)
  return withPayments(db.read, await listNewest(db.read, invoices, isOwn, limit, after))
}

/** Returns all invoices of a network whose payments are still credited, by their next turn. */
export const listWatched = ({ db, clock }: CoinContext, network: string) =>
  db.read
    .select()
    .from(invoices)
    .where(and(eq(invoices.network, network), gt(invoices.watchedUntil, clock.now())))
    .orderBy(asc(invoices.pollAt))

/** Plans the next turn of invoices: open ones soon, later ones less often. */
export async function planNext(ctx: CoinContext, due: StoredInvoice[]): Promise<void> {
  const now = ctx.clock.now()
  const ids = due.map(({ id }) => id)
  if (ids.length === 0) return
  const { open, recent, old } = pollAfter
  const pollAt = sql`case when ${invoices.expires} > ${now} then ${now + open}
    when ${invoices.expires} > ${now - 60 * minute} then ${now + recent} else ${now + old} end`
  await ctx.db.tx((db) => db.update(invoices).set({ pollAt }).where(inArray(invoices.id, ids)))
}
