import { type AnyColumn, sql } from 'drizzle-orm'

import { zero } from '../core/money.ts'
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
} from '../db/columns.ts'

/** Who an account belongs to. Only the house's own accounts may stand below zero. */
export type OwnerKind = 'agent' | 'person' | 'gateway' | 'house'

/**
 * What a transfer or a settlement gives to whom. A percentage is of the charge and rounded down;
 * an amount is Nano as decimal text.
 */
export type Part = { account: AccountId; percent: number } | { account: AccountId; amount: string }

export type AccountId = `${OwnerKind}:${string}`

/**
 * `balance` is in three colours: `free` (start credits, gifts of the house, and what was earned
 * from them), `earned` (from buyers who paid; only this may be paid out) and the rest, bought.
 * `held` is what open holds keep back, `paidHeld` the part of it that free credits may not pay.
 * `entries` numbers the newest entry and `lastFree` is the free part of the newest debit.
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
    check('accounts_covered', sql`${t.kind} = 'house' or ${t.held} <= ${t.balance}`),
    check('accounts_free', sql`${t.kind} = 'house' or ${t.free} >= 0`),
    check('accounts_earned', sql`${t.earned} >= 0`),
    check('accounts_colours', sql`${t.kind} = 'house' or ${t.free} + ${t.earned} <= ${t.balance}`),
    check('accounts_held', sql`${t.paidHeld} >= 0 and ${t.paidHeld} <= ${t.held}`),
    check('accounts_paid', sql`${t.kind} = 'house' or ${t.paidHeld} <= ${t.balance} - ${t.free}`),
  ],
)

/**
 * One line of a transfer: append-only, numbered from 1 in each account. All lines of one `ref` sum
 * to zero. `balance`, `free` and `earned` are the account's after it.
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
  },
  (t) => [
    primaryKey({ columns: [t.account, t.number] }),
    uniqueIndex('entries_ref').on(t.ref, t.line),
    index('entries_earned')
      .on(t.account, t.at)
      .where(sql`${t.kind} = 'remix' and ${t.amount} > 0`),
  ],
)

/** Whether a kind of work is told one by one, in no list: SQLite builds one for every row. */
export const isTold = (kind: AnyColumn) =>
  sql`(${kind} = 'build' or ${kind} = 'icon' or ${kind} = 'assets' or ${kind} = 'remix')`

/**
 * What is paid for: `ref` is its unique name and `kind` what it is (build, chat, grant ...). A
 * transfer is a hold that is settled at once. `id` is one try: a released ref may be held again. A
 * hold that names a `job` outlives its process: the job that ends closes it.
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
    parts: json<Part[]>('parts').notNull(),
    price: json<Price | null>('price'),
    capKey: text('cap_key'),
    capDay: text('cap_day'),
    onExpiry: text('on_expiry').$type<'release' | 'settle'>().notNull(),
    deadline: time('deadline').notNull(),
    process: text('process').notNull(),
    job: text('job'),
    at: time('at').notNull(),
  },
  (t) => [
    index('holds_open')
      .on(t.deadline)
      .where(sql`${t.state} = 'held'`),
    index('holds_spending').on(t.account, t.kind, t.charged).where(isTold(t.kind)),
    index('holds_job')
      .on(t.job)
      .where(sql`${t.job} is not null`),
    check('holds_charge', sql`${t.charged} >= 0 and ${t.charged} <= ${t.amount}`),
    check('holds_ended', sql`${t.state} = 'settled' or ${t.charged} = 0`),
  ],
)

/** A price row as it was when the hold was made; money in it is decimal text. */
export type Price = Record<string, string | number | null>

/** What a key has spent (settled and held) on one UTC day. */
export const caps = table(
  'caps',
  {
    key: text('key').notNull(),
    day: text('day').notNull(),
    used: nano('used').notNull(),
  },
  (t) => [primaryKey({ columns: [t.key, t.day] }), check('caps_used', sql`${t.used} >= 0`)],
)

/** What free credits have paid (settled and held) for builds on one UTC day, of all agents. */
export const freeDays = table(
  'free_days',
  { day: text('day').primaryKey(), used: nano('used').notNull() },
  (t) => [check('free_days_used', sql`${t.used} >= 0`)],
)
