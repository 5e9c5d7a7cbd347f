import type { ObservedPayment } from './payments.ts'
import type { StoredInvoice, StoredPayment } from './status.ts'

/** The result of a pass of a watcher. */
export interface PollResult {
  observed: ObservedPayment[]
  /** Payments that were seen before, and that the chain no longer shows. */
  gone: StoredPayment[]
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
