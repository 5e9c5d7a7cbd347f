import type { AddressClient } from '../client.ts'
import type { AppContext } from '../context.ts'
import { ApiError, type DirectPayment, type ErrorName } from '../errors.ts'
import type { NanoUsd } from '../money.ts'
import type { BodyArrivals } from '../state/body-arrivals.ts'
import type { SpanContext } from '../telemetry/otlp.ts'
import type { Upgrade } from './web-socket.ts'

/** Peer address of in-process requests. They are not logged. */
export const inProcessAddress = 'this process'

/** Credits, or the share of a run, that a call is short of. */
export interface Shortfall {
  amount: NanoUsd
  /** The amount that the call spends, which counts for the daily cap of its key. */
  spends: NanoUsd
  /** Set where the payment goes to the maker of a framework, who gets exactly this amount. */
  share?: DirectPayment
}

/**
 * The state of one request. It serves limits, the log and `x-request-id`. money/payment.ts adds its
 * payment.
 */
export interface RequestContext {
  readonly id: string
  /** The client at its address, which trusted proxies forward, and with the key that it sent. */
  readonly client: AddressClient
  /** The user name from a trusted proxy (PERSON_HEADER). */
  readonly vouchedPerson?: string | undefined
  /** The route's pattern ("/api/apps/:id"), set when a route matches. */
  route?: string
  /** The name of the error, or the message of an unexpected one, for the console. */
  cause?: string
  /** The span of the request; undefined without telemetry. */
  readonly span?: SpanContext | undefined
  /** Fields of the request that its upstream did not get. */
  ignoredFields?: string[]
  /** The path of a request that has no route, for the log. */
  unknownPath?: string
  /** Turns off the idle timeout of the socket, or turns it on again. */
  readonly pauseIdleTimeout?: ((isPaused: boolean) => void) | undefined
  /** Turns the connection into a WebSocket. Undefined for requests of this process. */
  readonly upgrade?: Upgrade | undefined
  /** Ends the body when it arrives too slowly. */
  readonly bodyArrivals: BodyArrivals
  /** Frees the bytes of the body, which count while the request runs. */
  releaseBody?: () => void
  /** The request came by MCP, which alone accepts the tokens of connectors (RFC 8707). */
  acceptsTokens?: boolean
  /** The operation bounds its own time, so the idle timeout pauses when the body is complete. */
  hasOwnDeadline?: boolean
}

/**
 * The context of each request. Elysia's own context begins after routing. Rate limits, MCP and the
 * log need this one earlier, and share only the Request with the handlers.
 */
const contexts = new WeakMap<Request, RequestContext>()

/** Attaches a context to a request before it is routed. */
export const setRequestContext = (request: Request, context: RequestContext): void => {
  contexts.set(request, context)
}

/** Returns the context of a request. Throws where the request did not pass the middleware. */
export function getRequestContext(request: Request): RequestContext {
  const context = contexts.get(request)
  if (!context) throw new Error('the request has no context')
  return context
}

/** Returns the party that sends a request. */
export const senderOf = (request: Request) => ({
  method: request.method,
  headers: request.headers,
  context: getRequestContext(request),
})

/** Returns the address that limits count by: the client's, or its IPv6 /64. */
export const clientAddressGroup = (request: Request): string =>
  getRequestContext(request).client.group

/** Pauses the idle timeout of an operation with its own deadline: its body is complete. */
export function bodyRead(request: Request): void {
  const context = contexts.get(request)
  if (context?.hasOwnDeadline) context.pauseIdleTimeout?.(true)
}

/**
 * Returns the context of a request from another machine. The body of a request of this process is
 * in memory already, and counts as that of the request that it belongs to.
 */
export function outerContext(request: Request): RequestContext | undefined {
  const context = contexts.get(request)
  return context?.upgrade && context
}

/** Returns the path of an absolute URL, four times as fast as `new URL(url).pathname`. */
export function pathOf(url: string): string {
  const start = url.indexOf('/', url.indexOf('//') + 2)
  if (start < 0) return '/'
  const query = url.indexOf('?', start)
  return query < 0 ? url.slice(start) : url.slice(start, query)
}

/** Errors of limits that do not say when to retry. All others have `retryAfter`. */
const quotas = new Set<ErrorName>([
  'busy',
  'try_again',
  'storage_full',
  'files_full',
  'assets_full',
  'too_many_assets',
])

/** Notes an error for the console, and counts that of a limit for the metrics. */
export function noteError(
  { state: { limitErrors } }: AppContext,
  context: RequestContext,
  error: unknown,
): void {
  context.cause = causeOf(error)
  if (!(error instanceof ApiError)) return
  const { errorName, details } = error
  const isLimit = quotas.has(errorName) || details.some((one) => 'retryAfter' in one)
  if (isLimit) limitErrors.set(errorName, (limitErrors.get(errorName) ?? 0) + 1)
}

const causeCharsMax = 200

/** Returns the name of an expected error, or the message of another one without any values. */
function causeOf(error: unknown): string {
  if (error instanceof ApiError) return error.errorName
  if (!(error instanceof Error)) return 'unexpected'
  // A failed query has its parameters in the message. The log has the stack.
  const cause = 'query' in error && error.cause instanceof Error ? error.cause : error
  if ('code' in cause && typeof cause.code === 'string') {
    return cause.code === 'NOT_FOUND' ? 'unknown path' : cause.code.slice(0, causeCharsMax)
  }
  return `${cause.name}: ${cause.message.split('\n')[0] ?? ''}`.slice(0, causeCharsMax)
}
