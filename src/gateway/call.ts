import { getRequestContext, type RequestContext } from '../http/request-context.ts'
import { idempotencyKeyOf } from '../idempotency/idempotency.ts'
import type { SpanContext } from '../telemetry/trace-context.ts'

/** The facts of a request that paid work needs. */
export interface Call {
  requestId: string
  idempotencyKey: string | undefined
  /**
   * Aborts when the client disconnects, unless the call has an Idempotency-Key: then the client may
   * retry.
   */
  signal: AbortSignal
  span?: SpanContext | undefined
  /** Names the fields of the request that its upstream does not get, in a header. */
  reportIgnored?: ((names: string[]) => void) | undefined
  /** Turns off the idle timeout of the socket while an upstream works, or turns it on again. */
  pauseIdleTimeout?: RequestContext['pauseIdleTimeout']
}

export function callOf(request: Request): Call {
  const idempotencyKey = idempotencyKeyOf(request)
  const signal = idempotencyKey === undefined ? request.signal : new AbortController().signal
  const context = getRequestContext(request)
  const { id: requestId, span, pauseIdleTimeout } = context
  const reportIgnored = (names: string[]): void => {
    context.ignoredFields = [...(context.ignoredFields ?? []), ...names]
  }
  return { requestId, idempotencyKey, signal, span, reportIgnored, pauseIdleTimeout }
}
