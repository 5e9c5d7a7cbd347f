import { hour, minute, second } from '../../kernel/time.ts'

/** Sessions of a process. `limits.ts` has those of a key, and the bytes of an event. */
export const sessionsMax = 200
/** Time without an event of the client, and of a whole session. */
export const idleMs = 5 * minute
export const sessionMs = hour
/** Responses, and transcriptions, that run at once in a session. */
export const runningMax = 4
/** Bytes of events that wait for a slow reader before the other side is paused. */
export const queueBytesMax = 1_048_576
/** The time in which an upstream reports the usage of a response that was cut. */
export const cutMs = 5 * second
/** The same time while the server stops. */
export const stopMs = second
/** Audio of one transcription, and its tokens where the window of the model is unknown. */
export const speechSecondsMax = 1_800
export const speechTokensMax = 16_000
