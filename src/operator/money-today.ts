import type { AppContext } from '../context.ts'
import { nano, type NanoUsd, zero } from '../core/money.ts'
import { day, utcDay } from '../core/time.ts'
import { listDailyIncome } from '../ledger/totals.ts'
import { paidSince } from '../payments/x402/rows.ts'
import { incomeByDay } from './topups.ts'

/** Money of this UTC day: what people and agents paid in, and what they were charged. */
export interface MoneyToday {
  paidIn: NanoUsd
  charged: NanoUsd
}

export async function readMoneyToday(ctx: AppContext): Promise<MoneyToday> {
  const now = ctx.clock.now()
  const [income, coins, x402] = await Promise.all([
    listDailyIncome(ctx, 1),
    incomeByDay(ctx),
    ctx.x402 ? paidSince(ctx.db.read, now - (now % day)) : zero,
  ])
  const today = coins.filter((one) => one.day === utcDay(now))
  const paidIn = today.reduce((sum, { value }) => sum + value, BigInt(x402))
  return { paidIn: nano(paidIn), charged: income[0]?.amount ?? zero }
}
