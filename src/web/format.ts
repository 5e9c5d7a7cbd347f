import { lazy } from '../core/lazy.ts'
import { inDigits, nanoPerCredit, toCredits } from '../core/money.ts'

/** Cut off, so that nobody is told of more than there is. */
const numbers = lazy(
  () => new Intl.NumberFormat('en', { maximumFractionDigits: 2, roundingMode: 'trunc' }),
)
const smallNumbers = lazy(() => new Intl.NumberFormat('en', { maximumSignificantDigits: 2 }))

/** A number of credits in few signs; a small one is never told as nothing. */
export const formatCredits = (credits: number): string =>
  (Math.abs(credits) < 1 ? smallNumbers : numbers)().format(credits)

/** Amounts of one column, none of them rounded and all to the same decimal: they add up. */
export function formatColumn(
  amounts: bigint[],
  signDisplay: 'auto' | 'exceptZero' = 'auto',
): string[] {
  // A large number of credits has digits that only a float has: what is after the point is exact.
  const parts = amounts.map((one) => inDigits(toCredits(one % nanoPerCredit)))
  const decimals = Math.max(0, ...parts.map((one) => one.split('.')[1]?.length ?? 0))
  const fraction = { minimumFractionDigits: decimals, maximumFractionDigits: decimals }
  const { format } = new Intl.NumberFormat('en', { ...fraction, signDisplay })
  return amounts.map((one) => format(toCredits(one)))
}

const dollars = lazy(() => {
  const currency = { style: 'currency', currency: 'USD' } as const
  return new Intl.NumberFormat('en', { ...currency, maximumFractionDigits: 9 })
})

/** USD with every digit to the ninth decimal, and those of the cents in any case. */
export const formatUsd = (usd: number): string => dollars().format(usd)

/** "1 credit", "99,999 credits": as exact as it is. */
export const formatAmount = (value: number, noun: string): string =>
  `${formatCredits(value)} ${noun}${value === 1 ? '' : 's'}`
