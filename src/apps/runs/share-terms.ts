import type { Share } from '../folders/folder.ts'
import type { Money, ReportRequest } from './schemas.ts'

/** USDC has six decimals. */
const decimals = 6
/** Percent have at most four decimals. */
const percentParts = 10_000

/** Converts "12.50" to units of USDC. */
export function toUnits(amount: string): bigint {
  const [whole = '0', fraction = ''] = amount.split('.')
  return BigInt(whole + fraction.padEnd(decimals, '0'))
}

/** Converts units of USDC to "12.5". */
export function formatUnits(units: bigint): string {
  const digits = String(units).padStart(decimals + 1, '0')
  const fraction = digits.slice(-decimals).replace(/0+$/, '')
  return digits.slice(0, -decimals) + (fraction && `.${fraction}`)
}

/** Returns the units that are due, rounded down. */
export const dueUnits = ({ amount }: Money, percent: number): bigint =>
  (toUnits(amount) * BigInt(Math.round(percent * percentParts))) / BigInt(100 * percentParts)

/** Returns the field of a report that a share is of, and the problem of a report without it. */
export function shareBase(
  { of }: Share,
  { outcome, profit, revenue }: ReportRequest,
): { money: Money | undefined; problem?: string } {
  const [money, other] = of === 'profit' ? [profit, revenue] : [revenue, profit]
  const otherName = of === 'profit' ? 'revenue' : 'profit'
  if (other) {
    return { money, problem: `The share is of the ${of}: send "${of}" and not "${otherName}".` }
  }
  const isNeeded = money === undefined && (outcome === 'worked' || outcome === 'partly')
  const problem = `Send "${of}", such as { "amount": "12.50", "currency": "USDC" }: the maker has a share of it.`
  return { money, ...(isNeeded && { problem }) }
}

/** Returns the text whose keccak256 is the nonce of a bound payment (docs/spec/payments.md). */
export const nonceText = (pack: string, run: string): string => `berth/share/v1|${pack}|${run}`

/** Returns the text that the sender of a bare transaction signs. */
export const signedText = (run: string, tx: string, network: string): string =>
  `Berth profit share\nrun: ${run}\ntx: ${tx}\nnetwork: ${network}`
