import type { Call as SentCall, IncomingCall } from '../kernel/http/operation.ts'
import type { Content, Success } from '../kernel/http/outcome.ts'
import type { RequestContext } from '../kernel/http/request-context.ts'
import type { SpanContext } from '../kernel/telemetry/otlp.ts'
import { idempotencyKeyOf } from '../money/idempotency/idempotency.ts'

/** JSON with its cost as a header, or a text, file or stream. */
export type CallOutcome = Success<200> | Content

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

/** Returns the facts of a call. */
export function callOf(sent: Pick<SentCall, 'headers' | 'signal' | 'context'>): Call {
  const { context } = sent
  const idempotencyKey = idempotencyKeyOf(sent)
  const signal = idempotencyKey === undefined ? sent.signal : new AbortController().signal
  const { id: requestId, span, pauseIdleTimeout } = context
  const reportIgnored = (names: string[]): void => {
    context.ignoredFields = [...(context.ignoredFields ?? []), ...names]
  }
  return { requestId, idempotencyKey, signal, span, reportIgnored, pauseIdleTimeout }
}

/** Returns the request of a call, for an operation with another body than JSON. */
export function requestOf({ source }: IncomingCall): Request {
  if ('request' in source) return source.request
  throw new Error('the operation needs an HTTP request')
}
