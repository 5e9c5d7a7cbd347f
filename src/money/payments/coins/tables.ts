import { sql } from 'drizzle-orm'

import {
  check,
  index,
  integer,
  nano,
  primaryKey,
  table,
  text,
  time,
  uniqueIndex,
} from '../../../kernel/db/columns.ts'
import type { AccountId } from '../../ledger/tables.ts'
import type { Method } from './method.ts'

/**
 * Invoices of top-ups. `amount` is the requested value, `due` the same in units of the coin (wei,
 * satoshi), as decimal text. `rate` is billionths of a USD per coin. `path` is the number of the
 * address below the extended public key `wallet`; SOL has one recipient and a `reference` instead.
 */
export const invoices = table(
  'invoices',
  {
    id: text('id').primaryKey(),
    account: text('account').$type<AccountId>().notNull(),
    method: text('method').$type<Method>().notNull(),
    network: text('network').notNull(),
    asset: text('asset').notNull(),
    wallet: text('wallet').notNull(),
    path: integer('path'),
    address: text('address').notNull(),
    reference: text('reference'),
    amount: nano('amount').notNull(),
    due: text('due').notNull(),
    rate: nano('rate').notNull(),
    rateSource: text('rate_source').notNull(),
    uri: text('uri').notNull(),
    markedBy: text('marked_by'),
    created: time('created').notNull(),
    expires: time('expires').notNull(),
    watchedUntil: time('watched_until').notNull(),
    pollAt: time('poll_at').notNull(),
  },
  (t) => [
    uniqueIndex('invoices_path')
      .on(t.wallet, t.path)
      .where(sql`${t.path} is not null`),
    uniqueIndex('invoices_reference')
      .on(t.reference)
      .where(sql`${t.reference} is not null`),
    index('invoices_address').on(t.address),
    index('invoices_account').on(t.account, t.created),
    index('invoices_watched').on(t.network, t.watchedUntil),
    index('invoices_created').on(t.created),
    check('invoices_amount', sql`${t.amount} > 0`),
  ],
)

/**
 * Payments on chains. `output` tells apart the payments of one transaction: the output or the
 * instruction that it signs, or the first known index of the log of a token. `amount` is in units
 * of the coin, as decimal text. `invoice` is null for money that matches none. `seen`: not
 * confirmed. `replaced`: gone from the chain. `unmatched`: the operator decides. `value` is what
 * was credited.
 */
export const coinPayments = table(
  'coin_payments',
  {
    network: text('network').notNull(),
    tx: text('tx').notNull(),
    output: integer('output').notNull(),
    id: text('id').notNull(),
    invoice: text('invoice'),
    address: text('address').notNull(),
    asset: text('asset').notNull(),
    amount: text('amount').notNull(),
    state: text('state').$type<'seen' | 'credited' | 'replaced' | 'unmatched'>().notNull(),
    block: integer('block'),
    confirmations: integer('confirmations').notNull(),
    rate: nano('rate'),
    isLate: integer('is_late').notNull(),
    value: nano('value'),
    why: text('why'),
    seen: time('seen').notNull(),
    credited: time('credited'),
  },
  (t) => [
    primaryKey({ columns: [t.network, t.tx, t.output] }),
    uniqueIndex('coin_payments_id').on(t.id),
    index('coin_payments_invoice').on(t.invoice),
    index('coin_payments_credited').on(t.credited),
    index('coin_payments_state').on(t.state, t.seen),
    check('coin_payments_credit', sql`(${t.state} = 'credited') = (${t.value} is not null)`),
  ],
)

/** Watchers by network. One process at a time runs a watcher: `process`, until `leaseUntil`. */
export const watchers = table('coin_watchers', {
  network: text('network').primaryKey(),
  process: text('process').notNull(),
  leaseUntil: time('lease_until').notNull(),
  cursor: text('cursor'),
  polled: time('polled'),
  succeeded: time('succeeded'),
  problem: text('problem'),
  failures: integer('failures').notNull(),
})
