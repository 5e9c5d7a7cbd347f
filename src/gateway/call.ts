import type { Call as SentCall, IncomingCall } from '../kernel/http/operation.ts'
import type { Content, Replay, Success } from '../kernel/http/outcome.ts'
import { type RequestContext, setRequestContext } from '../kernel/http/request-context.ts'
import type { SpanContext } from '../kernel/telemetry/trace-context.ts'
import { idempotencyKeyOf } from '../money/idempotency/idempotency.ts'
import { hasPayment } from '../money/payments/x402/payload.ts'

/** JSON with its cost as a header, the replay of a charged error, or a text, file or stream. */
export type CallOutcome = Success<200> | Replay | Content

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

/** A request whose body the operation parses itself, and again after a payment. */
interface UnreadRequest {
  request: Request
  context: RequestContext
  isRepeatable: boolean
}

/** Returns the request of a call that is not JSON. */
export async function requestOf({
  source,
  headers,
  context,
}: IncomingCall): Promise<UnreadRequest> {
  if (!('request' in source)) throw new Error('the operation needs an HTTP request')
  return { request: source.request, context, isRepeatable: hasPayment(headers) }
}

/** Returns a request with its whole body, which another run may need again. */
export function unread(sent: UnreadRequest): Request {
  const { request, context, isRepeatable } = sent
  if (!isRepeatable || !request.body) return request
  const { url, method, headers, signal } = request
  const [first, second] = request.body
    .tee()
    .map((body) => new Request(url, { method, headers, signal, body }))
  if (!first || !second) throw new Error('a stream has two branches')
  sent.request = second
  setRequestContext(first, context)
  setRequestContext(second, context)
  return first
}
