import { rejectRequest } from './errors.ts'

/**
 * Money in billionths of a USD. 1 credit is 1,000,000 of them, 1,000 credits are 1 USD (document 1,
 * section 8). Floating-point numbers exist only on the wire.
 */
declare const nanoBrand: unique symbol
export type NanoUsd = bigint & { readonly [nanoBrand]: 'NanoUsd' }

const nanoPerCredit = 1_000_000n
const nanoPerUsd = 1_000_000_000n
const decimalPattern = /^(\d{1,12})(?:\.(\d{1,9}))?$/

/** Brands a bigint in billionths of a USD. */
export const nano = (amount: bigint): NanoUsd => amount as NanoUsd

export const zero = nano(0n)

/** Converts whole credits. Throws RangeError for a fraction. */
export const fromCredits = (credits: number): NanoUsd => nano(BigInt(credits) * nanoPerCredit)

/**
 * Converts credits of a request. Throws `bad_request` for more than six decimals, because rounding
 * could turn a small cap into a cap of 0.
 */
export const parseCredits = (credits: number, param: string): NanoUsd =>
  nano(parseMillionths(credits, param))

/**
 * Converts an amount of a request to its millionths. Throws `bad_request` for more than six
 * decimals. Floating-point numbers of this size are also multiples of a millionth when the last of
 * their digits differs, and validators of `multipleOf` accept those.
 */
export function parseMillionths(amount: number, param: string): bigint {
  const millionths = Math.round(amount * 1_000_000)
  const isExact = millionths / 1_000_000 === amount || amount / 0.000_001 === millionths
  if (isExact && Number.isFinite(millionths)) return BigInt(millionths)
  rejectRequest(`"${param}" must have at most six decimals.`, param)
}

/** Converts to credits for the wire, a number with at most six decimals. */
export const toCredits = (amount: bigint): number => Number(amount) / Number(nanoPerCredit)

/** Parses USD ("12", "0.0375") exactly; undefined for other text and more than nine decimals. */
export function fromUsd(text: string): NanoUsd | undefined {
  const match = decimalPattern.exec(text)
  if (!match) return undefined
  const [, whole = '0', fraction = ''] = match
  return nano(BigInt(whole) * nanoPerUsd + BigInt(fraction.padEnd(9, '0')))
}

/** Converts to USD for the wire. */
export const toUsd = (amount: bigint): number => Number(amount) / Number(nanoPerUsd)

/** Formats a number with up to nine decimals and without an exponent. */
export const formatDecimal = (amount: number): string => amount.toFixed(9).replace(/\.?0+$/, '')

/** Formats an amount in credits with all its digits: 1,500,000.25. */
export const formatCredits = (amount: bigint): string =>
  toCredits(amount).toLocaleString('en', { maximumFractionDigits: 6 })

/** Returns a share in percent, rounded down: the operator keeps the remainder. */
export const percentOf = (amount: NanoUsd, percent: number): NanoUsd =>
  nano((amount * BigInt(percent)) / 100n)
