import { and, eq, gte } from 'drizzle-orm'

import type { Db } from '../../kernel/db/engine.ts'
import { sumOf } from '../../kernel/db/query.ts'
import { thisProcess } from '../../kernel/db/replicas/presence.ts'
import { ApiError } from '../../kernel/errors.ts'
import { newOrderedId } from '../../kernel/ids.ts'
import { type NanoUsd, zero } from '../../kernel/money.ts'
import { day, nextUtcDay, secondsUntil, utcDay } from '../../kernel/time.ts'
import { type AccountId, caps, holds, type PercentShare, type Price } from './tables.ts'

export type Hold = typeof holds.$inferSelect

declare module '../../kernel/context.ts' {
  interface AppContext {
    /** Observes every charge. server/http/background-work.ts registers it. */
    onCharge?: ChargeObserver
  }
}

/** Runs in the transaction of every charge, with the ended hold and the balance that is left. */
export type ChargeObserver = (db: Db, charged: Hold, left: NanoUsd) => Promise<unknown> | undefined

/** Writes further rows of a settlement, in its transaction. */
export type SettlementRecorder = (db: Db, ended: Hold) => Promise<unknown>

export interface HoldRequest {
  account: AccountId
  amount: NanoUsd
  /** The unique name of the purchase. A released ref may be held again. */
  ref: string
  /** The kind of work: build, chat, remix and so on. */
  kind: string
  item?: string | undefined
  /** `paid`: free credits cannot pay for it. The default, `any`, spends free credits first. */
  funds?: 'any' | 'paid' | undefined
  /** Receivers of a share, in percent of the charge. The operator's income gets the remainder. */
  shares?: PercentShare[] | undefined
  /** The price row that the maximum cost was computed with. */
  price?: Price | undefined
  cap?: Cap | undefined
  /** A counter that the key shares with others. It needs a `cap`. */
  group?: string | undefined
  /** The counter of an agent that pays for others. It needs a `cap`. */
  payer?: string | undefined
  /** Limits over several days, and limits of the group. */
  budgets?: Budget[] | undefined
  /** The deadline releases an open hold (the default), or settles all of it. */
  onExpiry?: 'release' | 'settle' | undefined
  /** The API key or balance whose running calls PostgreSQL limits among all processes. */
  caller?: { id: string; max: number } | undefined
  /** The job that does the work. This hold survives its process (`closeJobHolds`). */
  job?: string | undefined
  /** The longest time that the work may take, in milliseconds. */
  ms: number
}

/** Creates a hold from its terms, without writing it. */
export function createHold(at: number, request: HoldRequest): Hold {
  const { amount, shares = [], cap } = request
  const percent = shares.reduce((sum, part) => sum + part.percent, 0)
  invariant(amount >= 0n, 'a hold is not negative')
  invariant(percent <= 100 && shares.every((part) => part.percent >= 0), 'shares are 0 to 100 %')
  return {
    ref: request.ref,
    id: newOrderedId(at),
    account: request.account,
    kind: request.kind,
    item: request.item ?? null,
    amount,
    charged: zero,
    state: 'held',
    funds: request.funds ?? 'any',
    parts: shares,
    price: request.price ?? null,
    capKey: cap ? cap.key : null,
    capDay: cap ? utcDay(at) : null,
    capGroup: (cap && request.group) ?? null,
    capPayer: (cap && request.payer) ?? null,
    onExpiry: request.onExpiry ?? 'release',
    deadline: at + request.ms,
    process: thisProcess,
    job: request.job ?? null,
    at,
    caller: request.caller?.id ?? null,
  }
}

/** The terms that two requests with one ref must agree on. */
export const termsOf = ({ account, amount, kind, item, parts }: Hold): string =>
  JSON.stringify([account, String(amount), kind, item, parts])

/** Returns a charge within 0 <= charge <= hold. */
export const clampCharge = ({ amount }: Hold, charge: NanoUsd): NanoUsd =>
  charge < 0n ? zero : charge > amount ? amount : charge

/** Makes the deadline charge an open hold: its work has begun, and the upstream bills it. */
export async function settleOnExpiry(db: Db, { ref, id }: Hold): Promise<void> {
  await db
    .update(holds)
    .set({ onExpiry: 'settle' })
    .where(and(eq(holds.ref, ref), eq(holds.id, id), eq(holds.state, 'held')))
}

/** Returns a hold as stored; undefined for one that was never committed. */
export async function findHold(
  db: Db,
  { ref, id }: Pick<Hold, 'ref' | 'id'>,
): Promise<Hold | undefined> {
  const [hold] = await db
    .select()
    .from(holds)
    .where(and(eq(holds.ref, ref), eq(holds.id, id)))
  return hold
}

/** Spending of a key on one UTC day. */
export type Counter = typeof caps.$inferSelect

/** A key and its spending limit per UTC day: null is unlimited, 0 allows no spending. */
export interface Cap {
  key: string
  max: NanoUsd | null
}

/** Returns the spending of a counter since a UTC day ("2026-05-04"), settled and held. */
export async function sumSpendingSince(db: Db, key: string, since: string): Promise<NanoUsd> {
  const isCounted = and(eq(caps.key, key), gte(caps.day, since))
  const [row] = await db
    .select({ used: sumOf(caps.used) })
    .from(caps)
    .where(isCounted)
  return row?.used ?? zero
}

/** Returns the `daily_cap` error of a key, with its cap, its spending and the time to wait. */
export const dailyCapError = (cap: NanoUsd, spent: NanoUsd, now: number): ApiError =>
  new ApiError('daily_cap', { cap, spent, retryAfter: secondsUntil(nextUtcDay(now), now) })

/** Throws `daily_cap` when several holds of `amount` in all would exceed the cap together. */
export async function checkDailyCap(db: Db, { key, max }: Cap, amount: NanoUsd, now: number) {
  if (amount === zero || max === null) return
  const spent = await sumSpendingSince(db, key, utcDay(now))
  if (spent + amount > max) throw dailyCapError(max, spent, now)
}

const periods = ['day', 'week', 'month'] as const
export type Period = (typeof periods)[number]

/** A limit of what a counter may spend in a calendar period (UTC; weeks start on Monday). */
export interface Budget {
  /** The counter: a key, or a group of keys. */
  counter: string
  /** The owner of the limit, for the error: "key", or the name of a project. */
  owner: string
  period: Period
  max: NanoUsd
}

/** Throws `budget_exceeded` when a counter has spent more than a budget, settled and held. */
export function checkBudgets(counters: Counter[], budgets: Budget[], now: number): void {
  for (const { counter, owner, period, max } of budgets) {
    const { start, end } = periodAt(period, now)
    const since = utcDay(start)
    const spent = counters
      .filter(({ key, day }) => key === counter && day >= since)
      .reduce((sum, { used }) => sum + used, 0n)
    if (spent <= max) continue
    const retryAfter = secondsUntil(end, now)
    throw new ApiError('budget_exceeded', { owner, period, max, retryAfter })
  }
}

/** Returns the calendar period around a time. */
export function periodAt(period: Period, now: number): { start: number; end: number } {
  const today = now - (now % day)
  if (period === 'day') return { start: today, end: today + day }
  const date = new Date(now)
  if (period === 'month') {
    const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()]
    return { start: Date.UTC(year, month), end: Date.UTC(year, month + 1) }
  }
  const sinceMonday = (date.getUTCDay() + 6) % 7
  const start = today - sinceMonday * day
  return { start, end: start + 7 * day }
}

/** Throws when an invariant of the ledger is broken, which is always a programming error. */
export function invariant(holds: boolean, rule: string): asserts holds {
  if (!holds) throw new Error(`Broken ledger invariant: ${rule}`)
}
