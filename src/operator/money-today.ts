import type { AppContext } from '../context.ts'
import { nano, zero } from '../core/money.ts'
import { listDailyIncome } from '../ledger/totals.ts'
import { incomeByDay } from './topups.ts'

/** Returns what people and agents paid in on this UTC day, and what they were charged. */
export async function readMoneyToday(ctx: AppContext) {
  const [income, payments] = await Promise.all([listDailyIncome(ctx, 1), incomeByDay(ctx, 1)])
  const paidIn = payments.reduce((sum, { value }) => sum + value, 0n)
  return { paidIn: nano(paidIn), charged: income[0]?.amount ?? zero }
}
