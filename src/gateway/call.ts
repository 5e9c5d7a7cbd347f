import { visitOf } from '../core/visit.ts'
import { refOf } from '../idempotency/idempotency.ts'

/** A call as it came through the front door. */
export interface Call {
  requestId: string
  /** What the caller names it by. */
  ref: string | undefined
  signal: AbortSignal
}

/** A call's own facts. */
export const callOf = (request: Request): Call => ({
  requestId: visitOf(request).id,
  ref: refOf(request),
  signal: request.signal,
})
