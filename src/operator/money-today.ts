import type { AppContext } from '../context.ts'
import { nano, type NanoUsd, zero } from '../core/money.ts'
import { listDailyIncome } from '../ledger/totals.ts'
import { incomeByDay } from './topups.ts'

/** Money of this UTC day: what people and agents paid in, and what they were charged. */
export interface MoneyToday {
  paidIn: NanoUsd
  charged: NanoUsd
}

export async function readMoneyToday(ctx: AppContext): Promise<MoneyToday> {
  const [income, payments] = await Promise.all([listDailyIncome(ctx, 1), incomeByDay(ctx, 1)])
  const paidIn = payments.reduce((sum, { value }) => sum + value, 0n)
  return { paidIn: nano(paidIn), charged: income[0]?.amount ?? zero }
}
