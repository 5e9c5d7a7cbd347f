import { type RequestContext, requestContextOf } from '../http/request-context.ts'
import { refOf } from '../idempotency/idempotency.ts'

/** A call as it came through the front door. */
export interface Call {
  requestId: string
  /** What the caller names it by. */
  ref: string | undefined
  /** Aborts when the client leaves; never for a named call, whose client comes again. */
  signal: AbortSignal
  /** Lets its socket be silent, or no more, while an upstream is. */
  mayBeSilent?: RequestContext['mayBeSilent']
}

/** A call's own facts. */
export function callOf(request: Request): Call {
  const ref = refOf(request)
  const signal = ref === undefined ? request.signal : new AbortController().signal
  const { id: requestId, mayBeSilent } = requestContextOf(request)
  return { requestId, ref, signal, mayBeSilent }
}
