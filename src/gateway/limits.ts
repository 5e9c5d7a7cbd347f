import { hour, minute, second } from '../kernel/time.ts'

const mb = 1_048_576

/** Limits of what a key of a team may have. */
export const keyModelsMax = 50
export const keyNoteCharsMax = 500
export const keyTagsMax = 10
export const keyTagCharsMax = 40
export const projectsPerAccountMax = 100
export const projectNameCharsMax = 60
export const perMinuteMax = 1_000_000_000
/** Hours for which a rotated key may still be used. */
export const overlapHoursMax = 24 * 30

/** Lines of a batch, bytes of its results, and open batches of an account. */
export const batchLinesMax = 10_000
export const batchResultBytesMax = 64 * mb
export const openBatchesPerAccountMax = 8
/**
 * Bytes of the results of an account that was never funded, whose failed lines cost nothing, and
 * what a batch reserves for them and for the lines that do not run.
 */
export const unfundedResultBytesMax = 4 * mb
export const unfundedReservedBytes = 8 * mb
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

/** Stored responses (`store`): one with its input, those of an account, and a conversation. */
export const storedResponseBytesMax = 4 * mb
export const storedResponsesPerAccountMax = 10_000
export const storedResponseBytesPerAccountMax = 64 * mb
export const conversationResponsesMax = 500
export const conversationBytesMax = 16 * mb
export const responseItemsPageMax = 100

/** Realtime sessions of a process. kernel/limits.ts has those of a key, and an event's bytes. */
export const realtimeSessionsMax = 200
/** Time without an event of the client, and of a whole session. */
export const realtimeIdleMs = 5 * minute
export const realtimeSessionMs = hour
/** Responses, and transcriptions, that run at once in a session. */
export const realtimeResponsesMax = 4
/** Bytes of events that wait for a slow reader before the other side is paused. */
export const realtimeQueueBytesMax = mb
/** The time in which an upstream reports the usage of a response that was cut. */
export const realtimeCutMs = 5 * second
/** The same time while the server stops. */
export const realtimeStopMs = second
/** Audio of one transcription, and its tokens where the window of the model is unknown. */
export const realtimeSpeechSecondsMax = 1_800
export const realtimeSpeechTokensMax = 16_000
