import { ApiError } from '../errors.ts'

/**
 * Money is whole nano-USD (1e-9 USD). 1 credit is 1,000,000 Nano (1,000 credits are 1 USD:
 * document 1 section 8). Floats exist only on the wire.
 */
declare const nanoBrand: unique symbol
export type NanoUsd = bigint & { readonly [nanoBrand]: 'Nano' }

export const nanoPerCredit = 1_000_000n
const nanoPerUsd = 1_000_000_000n
const decimalPattern = /^(\d{1,12})(?:\.(\d{1,9}))?$/

/** Brands a bigint that is known to be nano-USD. */
export const nano = (amount: bigint): NanoUsd => amount as NanoUsd

export const zero = nano(0n)

/** Whole credits, as limits and prices state them, to Nano. Throws a RangeError for a fraction. */
export const fromCredits = (credits: number): NanoUsd => nano(BigInt(credits) * nanoPerCredit)

/**
 * Credits as they come over the wire, to Nano. Refuses bad_request, naming the field, for more than
 * six decimals: rounded, a cap of less than a Nano would be one of nothing.
 */
export function nanoOf(credits: number, param: string): NanoUsd {
  const amount = nano(BigInt(Math.round(credits * Number(nanoPerCredit))))
  if (toCredits(amount) === credits) return amount
  throw new ApiError('bad_request', { problem: `"${param}" has at most six decimals.`, param })
}

/** Nano to the credits shown on the wire (a number with at most six decimals). */
export const toCredits = (amount: bigint): number => Number(amount) / Number(nanoPerCredit)

/**
 * A decimal text in USD ("12", "0.0375") to Nano, exactly. Answers undefined when it is no
 * such text or has more than nine decimals, so that no digit is ever lost.
 */
export function fromUsd(text: string): NanoUsd | undefined {
  const match = decimalPattern.exec(text)
  if (!match) return undefined
  const [, whole = '0', fraction = ''] = match
  return nano(BigInt(whole) * nanoPerUsd + BigInt(fraction.padEnd(9, '0')))
}

/** Nano to a number of USD for the wire. */
export const toUsd = (amount: bigint): number => Number(amount) / Number(nanoPerUsd)

/** A number of USD or credits as plain digits, to the ninth decimal: never with an exponent. */
export const inDigits = (amount: number): string => amount.toFixed(9).replace(/\.?0+$/, '')

/** Nano as credits in a sentence, with every digit that they have: 1,500,000.25. */
export const inWords = (amount: bigint): string =>
  toCredits(amount).toLocaleString('en', { maximumFractionDigits: 6 })

/** A share in percent, rounded down: the remainder stays with the house. */
export const share = (amount: NanoUsd, percent: number): NanoUsd =>
  nano((amount * BigInt(percent)) / 100n)
