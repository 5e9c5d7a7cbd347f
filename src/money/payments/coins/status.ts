import { nano, type NanoUsd } from '../../../kernel/money.ts'
import type { Asset } from './method.ts'
import type { coinPayments, invoices } from './tables.ts'

export type StoredInvoice = typeof invoices.$inferSelect
export type AccountId = StoredInvoice['account']
export type StoredPayment = typeof coinPayments.$inferSelect

export const statuses = ['New', 'Processing', 'Settled', 'Expired', 'Invalid'] as const
export const exceptions = ['none', 'paid_partial', 'paid_over', 'paid_late', 'marked'] as const

/** The state of an invoice, from its payments (docs/spec/payments.md, "Top-ups by coin"). */
export interface InvoiceState {
  status: (typeof statuses)[number]
  exception: (typeof exceptions)[number]
  /** Units on the chain, confirmed or not. */
  paid: bigint
  /** Units that were credited. */
  confirmed: bigint
  credited: NanoUsd
}

const unitsOf = (payments: StoredPayment[]): bigint =>
  payments.reduce((sum, { amount }) => sum + BigInt(amount), 0n)

export function stateOf(invoice: StoredInvoice, all: StoredPayment[], now: number): InvoiceState {
  const own = all.filter(({ asset }) => asset === invoice.asset)
  const onChain = own.filter(({ state }) => state === 'seen' || state === 'credited')
  const done = own.filter(({ state }) => state === 'credited')
  const [paid, confirmed, due] = [unitsOf(onChain), unitsOf(done), BigInt(invoice.due)]
  const credited = nano(all.reduce((sum, { value }) => sum + (value ?? 0n), 0n))
  const isExpired = now >= invoice.expires
  const isLost = isExpired && paid === 0n && own.some(({ state }) => state === 'replaced')
  const status =
    invoice.markedBy !== null || confirmed >= due
      ? 'Settled'
      : paid >= due
        ? 'Processing'
        : isLost
          ? 'Invalid'
          : isExpired
            ? 'Expired'
            : 'New'
  return {
    status,
    exception: exceptionOf(invoice, onChain, { paid, due }),
    paid,
    confirmed,
    credited,
  }
}

function exceptionOf(
  { markedBy }: StoredInvoice,
  onChain: StoredPayment[],
  { paid, due }: { paid: bigint; due: bigint },
): InvoiceState['exception'] {
  if (markedBy !== null) return 'marked'
  if (onChain.some(({ isLate }) => isLate === 1)) return 'paid_late'
  if (paid > due) return 'paid_over'
  return paid > 0n && paid < due ? 'paid_partial' : 'none'
}

/** A payment as a chain shows it now. */
export interface ObservedPayment {
  tx: string
  output: number
  /**
   * Its place among the equal transfers of the transaction, from 0: of the same asset, address and
   * amount. Undefined where the signed transaction itself has `output`, which then never changes.
   */
  place?: number
  address: string
  asset: Asset
  /** Units of the coin. */
  amount: bigint
  block: number | null
  confirmations: number
  /** The time of its block, in milliseconds. */
  at?: number | undefined
  /** Undefined for money that matches no invoice. */
  invoice: StoredInvoice | undefined
}

/** The result of a pass of a watcher. */
export interface PollResult {
  observed: ObservedPayment[]
  /** Payments that wait for confirmations, and that this pass observes unless they are gone. */
  expected: StoredPayment[]
  cursor: string | null
}

/** The input of a pass of a watcher. */
export interface PollInput {
  cursor: string | null
  /** All watched invoices of the network. */
  watched: StoredInvoice[]
  /** Those whose turn it is. */
  due: StoredInvoice[]
  /** Payments of the network that wait for confirmations. */
  unconfirmed: StoredPayment[]
}
