import { and, eq, gte } from 'drizzle-orm'

import type { Db } from '../../kernel/db/engine.ts'
import { sumOf } from '../../kernel/db/query.ts'
import { ApiError } from '../../kernel/errors.ts'
import { type NanoUsd, zero } from '../../kernel/money.ts'
import { day, nextUtcDay, secondsUntil, utcDay } from '../../kernel/time.ts'
import { caps } from './tables.ts'

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
