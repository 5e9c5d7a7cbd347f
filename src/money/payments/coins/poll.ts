import type { Asset } from './method.ts'
import type { StoredInvoice, StoredPayment } from './status.ts'

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
