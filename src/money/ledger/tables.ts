import { type AnyColumn, sql } from 'drizzle-orm'

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
} from '../../kernel/db/columns.ts'
import { zero } from '../../kernel/money.ts'

/** The stored kind of the service's own accounts. Only their balances may be below zero. */
export const serviceKind = 'house'

/** Tests an account's kind with a literal, which checks of tables require. */
export const isService = (kind: AnyColumn) => sql`${kind} = ${sql.raw(`'${serviceKind}'`)}`

export type OwnerKind = 'agent' | 'person' | 'gateway' | typeof serviceKind

/** A receiver of `percent` of a charge, or `percent` of each `of`, rounded down. */
export interface PercentShare {
  account: AccountId
  percent: number
  of?: number
  /** Kind and item of its entry, where they are not those of the hold. */
  kind?: string
  item?: string
}

/** A receiver of a transfer or settlement. `amount` is nano-USD as decimal text. */
export type Share = PercentShare | { account: AccountId; amount: string }

export type AccountId = `${OwnerKind}:${string}`

/**
 * Accounts. `balance` has three parts: `free` (start credits, gifts, and earnings from these),
 * `earned` (from paying buyers; only this part may be paid out), and the bought rest. `held` is
 * reserved by open holds; free credits cannot pay for its part `paidHeld`. `entries` is the number
 * of the newest entry, and `lastFree` the free part of the newest debit.
 */
export const accounts = table(
  'accounts',
  {
    id: text('id').$type<AccountId>().primaryKey(),
    kind: text('kind').$type<OwnerKind>().notNull(),
    balance: nano('balance').notNull().default(zero),
    free: nano('free').notNull().default(zero),
    earned: nano('earned').notNull().default(zero),
    held: nano('held').notNull().default(zero),
    paidHeld: nano('paid_held').notNull().default(zero),
    lastFree: nano('last_free').notNull().default(zero),
    entries: integer('entries').notNull().default(0),
    at: time('at').notNull(),
  },
  (t) => [
    check('accounts_covered', sql`${isService(t.kind)} or ${t.held} <= ${t.balance}`),
    check('accounts_free', sql`${isService(t.kind)} or ${t.free} >= 0`),
    check('accounts_earned', sql`${t.earned} >= 0`),
    check('accounts_colours', sql`${isService(t.kind)} or ${t.free} + ${t.earned} <= ${t.balance}`),
    check('accounts_held', sql`${t.paidHeld} >= 0 and ${t.paidHeld} <= ${t.held}`),
    check('accounts_paid', sql`${isService(t.kind)} or ${t.paidHeld} <= ${t.balance} - ${t.free}`),
  ],
)

/**
 * Entries: append-only, numbered from 1 in each account. The entries of one commit `group` sum to
 * zero; older entries have no group, and those of one `ref` do. `balance`, `free` and `earned` are
 * those of the account after the entry.
 */
export const entries = table(
  'entries',
  {
    account: text('account').$type<AccountId>().notNull(),
    number: integer('number').notNull(),
    ref: text('ref').notNull(),
    line: integer('line').notNull(),
    kind: text('kind').notNull(),
    item: text('item'),
    amount: nano('amount').notNull(),
    balance: nano('balance').notNull(),
    free: nano('free').notNull(),
    earned: nano('earned').notNull(),
    at: time('at').notNull(),
    group: text('commit_group'),
  },
  (t) => [
    primaryKey({ columns: [t.account, t.number] }),
    uniqueIndex('entries_ref')
      .on(t.ref, t.line)
      .where(sql`${t.group} is null`),
    // Groups are numbered in order, so a charge writes to the last page of this index.
    index('entries_group')
      .on(t.group)
      .where(sql`${t.group} is not null`),
    index('entries_earned')
      .on(t.account, t.at)
      .where(sql`${t.kind} = 'remix' and ${t.amount} > 0`),
    index('entries_margin')
      .on(t.account, t.at)
      .where(sql`${t.kind} = 'margin'`),
  ],
)

/**
 * Returns whether a kind of work has its own line in an account's spending. Written without `in`,
 * because SQLite builds its list for every row.
 */
export const isItemizedKind = (kind: AnyColumn) =>
  sql`(${kind} = 'build' or ${kind} = 'icon' or ${kind} = 'assets' or ${kind} = 'remix')`

/**
 * Purchases. `ref` is the unique name of one and `kind` its kind: build, chat, grant and so on. A
 * transfer is a hold that is settled at once. `id` is one attempt: a released ref may be held
 * again. A hold with a `job` outlives its process, and the end of the job closes it.
 */
export const holds = table(
  'holds',
  {
    ref: text('ref').primaryKey(),
    id: text('id').notNull(),
    account: text('account').$type<AccountId>().notNull(),
    kind: text('kind').notNull(),
    item: text('item'),
    amount: nano('amount').notNull(),
    charged: nano('charged').notNull().default(zero),
    state: text('state').$type<'held' | 'settled' | 'released'>().notNull(),
    funds: text('funds').$type<'any' | 'paid'>().notNull(),
    parts: json<Share[]>('parts').notNull(),
    price: json<Price | null>('price'),
    capKey: text('cap_key'),
    capDay: text('cap_day'),
    /** A counter that several keys share, such as that of a project. */
    capGroup: text('cap_group'),
    /** The counter of an agent that pays for others. */
    capPayer: text('cap_payer'),
    onExpiry: text('on_expiry').$type<'release' | 'settle'>().notNull(),
    deadline: time('deadline').notNull(),
    process: text('process').notNull(),
    job: text('job'),
    at: time('at').notNull(),
    /** On PostgreSQL, the API key or balance whose running calls are limited. */
    caller: text('caller'),
  },
  (t) => [
    index('holds_caller')
      .on(t.caller)
      .where(sql`${t.state} = 'held' and ${t.caller} is not null`),
    index('holds_open')
      .on(t.deadline)
      .where(sql`${t.state} = 'held'`),
    index('holds_spending').on(t.account, t.kind, t.charged).where(isItemizedKind(t.kind)),
    index('holds_job')
      .on(t.job)
      .where(sql`${t.job} is not null`),
    check('holds_charge', sql`${t.charged} >= 0 and ${t.charged} <= ${t.amount}`),
    check('holds_ended', sql`${t.state} = 'settled' or ${t.charged} = 0`),
  ],
)

/** A price row at the time of the hold. Its amounts are decimal text. */
export type Price = Record<string, string | number | null>

/** Spending of a key on one UTC day, settled and held. */
export const caps = table(
  'caps',
  {
    key: text('key').notNull(),
    day: text('day').notNull(),
    used: nano('used').notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.key, t.day] }),
    // A key adds a row each day: the index costs nothing for further calls.
    index('caps_day').on(t.day),
    check('caps_used', sql`${t.used} >= 0`),
  ],
)
