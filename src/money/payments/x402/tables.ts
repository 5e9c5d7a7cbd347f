import { sql } from 'drizzle-orm'

import {
  check,
  index,
  integer,
  json,
  nano,
  primaryKey,
  table,
  text,
  time,
  uniqueIndex,
} from '../../../kernel/db/columns.ts'
import type { AccountId } from '../../ledger/tables.ts'
import type { SignedAuthorization } from './headers.ts'

/**
 * State of a payment on its chain. `received`: verified and claimed for `account`. `sent`: on its
 * way. `mined`: in a block, which a reorganization may still remove. `final`: deep enough to stay.
 * `rejected`: it can never move money.
 */
export type PaymentState = 'received' | 'sent' | 'mined' | 'final' | 'rejected'

/**
 * Payments of agents. `payer`, `nonce`, `wallet` and `hash` are hexadecimal in lower case. `wallet`
 * is the gas wallet that sends the transaction `raw`; null where a facilitator sends it. `block` is
 * the block of the settlement, `fromBlock` the newest one when the payment arrived.
 */
export const payments = table(
  'x402_payments',
  {
    network: text('network').notNull(),
    payer: text('payer').notNull(),
    nonce: text('nonce').notNull(),
    account: text('account').$type<AccountId>().notNull(),
    /** The run whose share is paid to the maker; null for credits. */
    run: text('run'),
    amount: nano('amount').notNull(),
    state: text('state').$type<PaymentState>().notNull(),
    signed: json<SignedAuthorization>('signed').notNull(),
    wallet: text('wallet'),
    walletNonce: integer('wallet_nonce'),
    raw: text('raw'),
    hash: text('hash'),
    fromBlock: integer('from_block').notNull(),
    block: integer('block'),
    reason: text('reason'),
    created: time('created').notNull(),
    credited: time('credited'),
  },
  (t) => [
    primaryKey({ columns: [t.network, t.payer, t.nonce] }),
    // A gas wallet sends one transaction at a time, also from several processes.
    uniqueIndex('x402_payments_sending')
      .on(t.network, t.wallet)
      .where(sql`${t.state} = 'sent' and ${t.wallet} is not null`),
    index('x402_payments_open')
      .on(t.created)
      .where(sql`${t.state} = 'received' or ${t.state} = 'sent' or ${t.state} = 'mined'`),
    index('x402_payments_created').on(t.created),
    index('x402_payments_hash').on(t.hash),
    check('x402_payments_amount', sql`${t.amount} > 0`),
  ],
)

/**
 * Transfers on a chain that paid for something here. Each does so once. `log` is the identity of
 * the transfer in its transaction, below zero; in older rows the index of its event in the block.
 */
export const usedTransfers = table(
  'used_transfers',
  {
    network: text('network').notNull(),
    tx: text('tx').notNull(),
    log: integer('log').notNull(),
    at: time('at').notNull(),
  },
  (t) => [primaryKey({ columns: [t.network, t.tx, t.log] })],
)
