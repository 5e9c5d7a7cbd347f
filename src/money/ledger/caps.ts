import { and, eq, gte, lte, type SQL, sql } from 'drizzle-orm'

import type { Db } from '../../kernel/db/engine.ts'
import { changedRowCount, prepared, sumOf } from '../../kernel/db/query.ts'
import { ApiError } from '../../kernel/errors.ts'
import { type NanoUsd, zero } from '../../kernel/money.ts'
import { day, nextUtcDay, secondsUntil, utcDay } from '../../kernel/time.ts'
import { caps } from './tables.ts'

/** A key and its spending limit per UTC day: null is unlimited, 0 allows no spending. */
export interface Cap {
  key: string
  max: NanoUsd | null
}

export interface KeyDay {
  key: string
  day: string
}

const byKeyDay = and(eq(caps.key, sql.placeholder('key')), eq(caps.day, sql.placeholder('day')))
/** Above every amount in the ledger. */
const unbounded = 2n ** 62n

const usedQuery = prepared((db) =>
  db.select({ used: caps.used }).from(caps).where(byKeyDay).prepare(),
)

/** Returns what a key has spent on a day, settled and held. */
export async function spentOn(db: Db, keyDay: KeyDay): Promise<NanoUsd> {
  const [row] = await usedQuery(db).execute({ key: keyDay.key, day: keyDay.day })
  return row?.used ?? zero
}

const countQuery = prepared((db) =>
  db
    .insert(caps)
    .values({
      key: sql.placeholder('key'),
      day: sql.placeholder('day'),
      used: sql.placeholder('amount'),
    })
    .onConflictDoUpdate({
      target: [caps.key, caps.day],
      set: { used: sql`${caps.used} + excluded.used` },
      setWhere: lte(sql`${caps.used} + excluded.used`, sql`${sql.placeholder('max')}`),
    })
    .prepare(),
)

/** Adds an amount to a key's day. Returns false, with nothing changed, when that exceeds `max`. */
export async function countSpending(
  db: Db,
  keyDay: KeyDay,
  amount: NanoUsd,
  max: NanoUsd | null,
): Promise<boolean> {
  // Free work stays possible when the cap was lowered below the day's spending.
  if (amount === zero) return true
  if (max !== null && amount > max) return false
  const counted = await countQuery(db).execute({ ...keyDay, amount, max: max ?? unbounded })
  return changedRowCount(counted) === 1
}

/** Subtracts `unspent` from the counter `capKey` of a hold. */
export const uncountSpending = (db: Db, condition?: SQL) =>
  db
    .update(caps)
    .set({ used: sql`${caps.used} - ${sql.placeholder('unspent')}` })
    .where(
      and(
        eq(caps.key, sql.placeholder('capKey')),
        eq(caps.day, sql.placeholder('capDay')),
        condition,
      ),
    )
const uncountQuery = prepared((db) => uncountSpending(db).prepare())

/** Subtracts an amount that was not spent from a counter that keys share. */
export async function uncountGroup(db: Db, { key, day }: KeyDay, unspent: NanoUsd): Promise<void> {
  await uncountQuery(db).execute({ capKey: key, capDay: day, unspent })
}

/** Returns the `daily_cap` error of a key, with its cap, its spending and the time to wait. */
export async function dailyCapError(
  db: Db,
  keyDay: KeyDay,
  cap: NanoUsd,
  now: number,
): Promise<ApiError> {
  const retryAfter = secondsUntil(nextUtcDay(now), now)
  return new ApiError('daily_cap', { cap, spent: await spentOn(db, keyDay), retryAfter })
}

/** Throws `daily_cap` when several holds of `amount` in all would exceed the cap together. */
export async function checkDailyCap(db: Db, { key, max }: Cap, amount: NanoUsd, now: number) {
  const keyDay = { key, day: utcDay(now) }
  if (amount === zero || max === null || (await spentOn(db, keyDay)) + amount <= max) return
  throw await dailyCapError(db, keyDay, max, now)
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

/**
 * Throws `budget_exceeded` when a counter has spent more than a budget, settled and held. Call it
 * in the transaction that counted the new amount: PostgreSQL then runs the holds of one counter one
 * after another.
 */
export async function checkBudgets(db: Db, budgets: Budget[], now: number): Promise<void> {
  for (const { counter, owner, period, max } of budgets) {
    const { start, end } = periodAt(period, now)
    const [row] = await db
      .select({ spent: sumOf(caps.used) })
      .from(caps)
      .where(and(eq(caps.key, counter), gte(caps.day, utcDay(start))))
    if ((row?.spent ?? 0n) <= max) continue
    throw new ApiError('budget_exceeded', {
      owner,
      period,
      max,
      retryAfter: secondsUntil(end, now),
    })
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
