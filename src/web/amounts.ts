import { inDigits, toCredits } from '../core/money.ts'
import { once } from '../core/once.ts'

/** Cut off, so that nobody is told of more than there is. */
const numbers = once(
  () => new Intl.NumberFormat('en', { maximumFractionDigits: 2, roundingMode: 'trunc' }),
)
const smallNumbers = once(() => new Intl.NumberFormat('en', { maximumSignificantDigits: 2 }))

/** A number of credits in few signs; a small one is never told as nothing. */
export const inCredits = (credits: number): string =>
  (Math.abs(credits) < 1 ? smallNumbers : numbers)().format(credits)

/** Amounts of one column, none of them rounded and all to the same decimal: they add up. */
export function inColumn(amounts: bigint[], signDisplay: 'auto' | 'exceptZero' = 'auto'): string[] {
  const credits = amounts.map(toCredits)
  const decimals = Math.max(0, ...credits.map((one) => inDigits(one).split('.')[1]?.length ?? 0))
  const fraction = { minimumFractionDigits: decimals, maximumFractionDigits: decimals }
  const { format } = new Intl.NumberFormat('en', { ...fraction, signDisplay })
  return credits.map(format)
}

/** USD with every digit to the ninth decimal, and those of the cents in any case. */
export const inUsd = (usd: number): string => `$${usd.toFixed(9).replace(/0{1,7}$/, '')}`

/** "1 credit", "99,999 credits": as exact as it is. */
export const told = (value: number, noun: string): string =>
  `${inCredits(value)} ${noun}${value === 1 ? '' : 's'}`
