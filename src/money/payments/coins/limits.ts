import { day, hour, minute, second } from '../../../kernel/time.ts'

/** Time after the end of an invoice in which its payments are still credited. */
export const lateMs = 7 * day
/** Unpaid invoices of an account that are watched. */
export const openInvoicesMax = 50
/** Age of a rate that is still used. */
export const rateAgeMax = 2 * minute
/** Age of a rate that is fetched again. */
export const rateFreshMs = 20 * second
/** Lease of a watcher. A process that ends without a word is replaced after it. */
export const leaseMs = 2 * minute
/** Time after which a watcher without a successful poll counts as failed. */
export const watcherSilenceMs = 3 * minute
/** Longest pause of a watcher that fails. */
export const backOffMsMax = 5 * minute
/** Invoices that one pass of a watcher asks for. */
export const invoicesPerPass = 500
/** Blocks that one pass of a watcher reads. */
export const blocksPerPass = 500
/** Intervals of asking for an invoice: while it is open, in the hour after, and later. */
export const pollAfter = { open: 0, recent: 2 * minute, old: hour } as const
