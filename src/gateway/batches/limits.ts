/** Lines of a batch, bytes of its results, and open batches of an account. */
export const batchLinesMax = 10_000
export const batchResultBytesMax = 64 * 1_048_576
export const openBatchesPerAccountMax = 8
/**
 * Bytes of the results of an account that was never funded, whose failed lines cost nothing, and
 * what a batch reserves for them and for the lines that do not run.
 */
export const unfundedResultBytesMax = 4 * 1_048_576
export const unfundedReservedBytes = 8 * 1_048_576
/** Lines of one batch that run at once. Live calls of the key have their own limit. */
export const batchLinesAtOnce = 4
/** A batch gives its place in the queue to others after this time. */
export const batchSliceMs = 30_000
export const batchListMax = 100
export const batchErrorsMax = 100
/** Attempts of a line that failed without a charge. */
export const batchAttemptsMax = 3
export const batchRetryMsMax = 10_000
export const fileIdCharsMax = 100
