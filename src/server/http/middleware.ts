import { inOwnEnvelope, setRequestId } from '../../gateway/client-apis.ts'
import { addressLimit } from '../../gateway/error-response.ts'
import { clientAddress, isLocalAddress, isTrustedProxy } from '../../kernel/address.ts'
import { AddressClient } from '../../kernel/client.ts'
import type { AppContext } from '../../kernel/context.ts'
import { ApiError } from '../../kernel/errors.ts'
import { inProcessAddress, pathOf, type RequestContext } from '../../kernel/http/request-context.ts'
import { errorResponse } from '../../kernel/http/response.ts'
import type { Upgrade } from '../../kernel/http/web-socket.ts'
import { newOrderedId } from '../../kernel/ids.ts'
import type { RateLimit } from '../../kernel/rate-limit.ts'
import { second, stopwatch } from '../../kernel/time.ts'
import type { TrafficPart } from '../../kernel/traffic.ts'
import { networkRejection } from '../../money/keys/restrictions.ts'
import { receiptHeaders } from '../../money/payment.ts'
import * as hosting from '../../people/error-response.ts'

/** The connection of a request. */
export interface Connection {
  /** Turns off the idle timeout of the socket for operations with their own deadline. */
  pauseIdleTimeout(isPaused: boolean): void
  upgrade: Upgrade
}

/** Handles a request. `socketAddress` is the address of the socket's other end. */
export type RequestHandler = (
  request: Request,
  socketAddress: string,
  connection?: Connection,
) => Response | Promise<Response>

export type Policy = (request: Request, context: RequestContext) => Response | Promise<Response>

/** Pages of any origin may call both APIs and read the responses. Cookies are not sent. */
const corsHeaders = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': '*',
}

const corsEntries = Object.entries(corsHeaders)

/** `*` allows every header except `authorization`. Client libraries send headers of their own. */
const preflightHeaders = {
  ...corsHeaders,
  'access-control-allow-methods': 'GET, POST, PUT, PATCH, DELETE',
  'access-control-allow-headers': 'authorization, *',
  'access-control-max-age': '86400',
}

const preflightResponse = (): Response =>
  new Response(null, { status: 204, headers: preflightHeaders })

/** Adds the headers that all responses of both APIs have. */
export function openToAllOrigins(response: Response): Response {
  const { headers } = response
  for (const [name, value] of corsEntries) headers.set(name, value)
  headers.set('x-content-type-options', 'nosniff')
  // Caches know that `authorization` makes a response private, but not that X-API-Key does.
  if (!headers.has('cache-control')) headers.set('cache-control', 'no-store')
  return response
}

/** Returns the Agent API's handler with CORS and the rate limit of the client's address. */
export const agentApiPolicy =
  (ctx: AppContext, next: Policy): Policy =>
  async (request, context) => {
    if (request.method === 'OPTIONS') return preflightResponse()
    const { apiRequests: limit } = ctx.state.limits
    const rejection = admit(ctx, context, limit)
    const response = rejection
      ? hosting.apiErrorResponse(new ApiError('rate_limited', rejection))
      : await next(request, context)
    reportLimit(response.headers, limit, context.client.group)
    setHeaders(response.headers, receiptHeaders(ctx, context))
    return openToAllOrigins(response)
  }

const setHeaders = (headers: Headers, more: Readonly<Record<string, string>>): void => {
  for (const [name, value] of Object.entries(more)) headers.set(name, value)
}

/**
 * Adds the headers that report the rate of an address (draft-ietf-httpapi-ratelimit-headers-10).
 * Returns what is left of it; undefined where there is no limit.
 */
function reportLimit(headers: Headers, limit: RateLimit, address: string) {
  if (limit.max === 0) return undefined
  const left = limit.left(address)
  headers.set('ratelimit-policy', `"address";q=${limit.max};w=${limit.windowMs / second}`)
  headers.set('ratelimit', `"address";r=${left.calls};t=${left.resetAfter}`)
  return left
}

/** Returns the gateway's handler with CORS, the rate limit and the headers that report it. */
export const gatewayPolicy =
  (ctx: AppContext, next: Policy): Policy =>
  async (request, context) => {
    if (request.method === 'OPTIONS') return preflightResponse()
    context.hasOwnDeadline = true
    const { gatewayRequests: limit } = ctx.state.limits
    const rejection = admit(ctx, context, limit)
    const path = pathOf(request.url)
    const response = rejection
      ? errorResponse(inOwnEnvelope(path, addressLimit(rejection), context.id))
      : await next(request, context)
    setRequestId(path, response, context.id)
    setHeaders(response.headers, receiptHeaders(ctx, context))
    reportIgnoredFields(response.headers, context.ignoredFields)
    const left = reportLimit(response.headers, limit, context.client.group)
    if (left) {
      response.headers.set('x-ratelimit-limit-requests', String(limit.max))
      response.headers.set('x-ratelimit-remaining-requests', String(left.calls))
      response.headers.set('x-ratelimit-reset-requests', `${left.resetAfter}s`)
    }
    return openToAllOrigins(response)
  }

const ignoredFieldsMax = 20
const fieldNamePattern = /^[\w.-]{1,64}$/

/** Names the fields of a request that had no effect, so that none is dropped silently. */
function reportIgnoredFields(headers: Headers, names: string[] = []): void {
  const shown = names.filter((name) => fieldNamePattern.test(name)).slice(0, ignoredFieldsMax)
  if (shown.length > 0) headers.set('x-ignored-fields', shown.join(', '))
}

interface Incoming {
  request: Request
  socketAddress: string
  part: TrafficPart | 'health'
  connection: Connection | undefined
}

/** Runs a handler with a new request context, counts the response and writes one line of log. */
export function withRequestLog(
  ctx: AppContext,
  { request, socketAddress, part, connection }: Incoming,
  handle: (context: RequestContext) => Response | Promise<Response>,
): Response | Promise<Response> {
  const startedAt = stopwatch()
  const span = part === 'gateway' || part === 'api' ? beginSpan(ctx, request) : undefined
  const context = createRequestContext(ctx, request, socketAddress, connection, span)
  const finish = (response: Response): Response => {
    context.releaseBody?.()
    if (context.hasOwnDeadline) connection?.pauseIdleTimeout(false)
    const ms = stopwatch() - startedAt
    response.headers.set('x-request-id', context.id)
    // RFC 6797, 6.1. Where a proxy serves HTTPS, it is the proxy's to promise.
    if (ctx.certificates) response.headers.set('strict-transport-security', 'max-age=31536000')
    const { method } = request
    const { status } = response
    const counted = part === 'health' ? 'pages' : part
    if (socketAddress !== inProcessAddress) record(ctx, counted, { context, method, status, ms })
    return response
  }
  const response = handle(context)
  // A synchronous response is not awaited: a promise costs as much as the rest of this function.
  if (!(response instanceof Promise)) return finish(response)
  return response.then(finish, (error: unknown) => {
    context.releaseBody?.()
    throw error
  })
}

const beginSpan = ({ telemetry }: AppContext, { headers }: Request) =>
  telemetry?.beginRequest(headers.get('traceparent'))

/** Proxies that are remembered. */
const unknownProxiesMax = 10

/** Remembers a peer on a local network that sends X-Forwarded-For and is not trusted. */
function noteProxy({ state: { unknownProxies } }: AppContext, peer: string): void {
  if (unknownProxies.size < unknownProxiesMax && isLocalAddress(peer)) unknownProxies.add(peer)
}

function createRequestContext(
  ctx: AppContext,
  request: Request,
  socketAddress: string,
  connection: Connection | undefined,
  span: RequestContext['span'],
): RequestContext {
  const { trustedProxies, personHeader } = ctx.config
  const forwarded = request.headers.get('x-forwarded-for')
  const isTrusted = isTrustedProxy(socketAddress, trustedProxies)
  if (forwarded !== null && !isTrusted) noteProxy(ctx, socketAddress)
  const isVouched = personHeader && isTrusted
  return {
    id: newOrderedId(ctx.clock.now()),
    client: new AddressClient(
      clientAddress(socketAddress, forwarded, trustedProxies),
      ctx.state.costs,
    ),
    vouchedPerson: isVouched ? (request.headers.get(personHeader) ?? undefined) : undefined,
    pauseIdleTimeout: connection?.pauseIdleTimeout,
    upgrade: connection?.upgrade,
    bodyArrivals: ctx.state.bodyArrivals,
    span,
  }
}

/**
 * Counts a call by the restriction of its network and the rate of its address. Work beyond the call
 * itself is charged to the rate. `isCounted`: the rate has counted the call already. Returns why
 * the call is rejected, if it is.
 */
export function admit(
  ctx: AppContext,
  context: RequestContext,
  limit: RateLimit,
  isCounted = false,
) {
  const { client } = context
  const { group } = client
  const rejection = networkRejection(ctx, client) ?? (isCounted ? undefined : limit.takeOne(group))
  if (rejection) context.cause = 'rate_limited'
  client.chargeRate = (units) => limit.add(group, units)
  return rejection
}

/** Returns the context of a call inside a request, such as one of several tools. */
export const innerContext = (ctx: AppContext, outer: RequestContext): RequestContext => ({
  id: newOrderedId(ctx.clock.now()),
  client: new AddressClient(outer.client.address, ctx.state.costs),
  bodyArrivals: outer.bodyArrivals,
  span: ctx.telemetry?.beginRequest(null),
  acceptsTokens: outer.acceptsTokens ?? false,
})

const unknownPathCharsMax = 200

/** The facts of a call that has ended. */
interface EndedCall {
  context: RequestContext
  method: string
  status: number
  /** Milliseconds that it took. */
  ms: number
}

/** Counts a call for the console and the metrics, writes its line of the log and ends its span. */
export function record(
  ctx: AppContext,
  part: TrafficPart,
  { context, method, status, ms }: EndedCall,
): void {
  const { id, client, route, cause, span } = context
  const { address, account, key } = client
  const path = context.unknownPath?.slice(0, unknownPathCharsMax)
  client.charge('requests', 1)
  ctx.state.traffic.count(part, status, ms)
  if (span) ctx.telemetry?.endRequest(span, { method, route, status, ms, requestId: id, key })
  const at = ctx.clock.now()
  const known = { id, at, method, route: route ?? path ?? '', status, ms, key, account, address }
  ctx.state.observations.addRequest(part, route !== undefined, { ...known, cause })
  ctx.log.info('request', {
    id,
    method,
    route: route ?? null,
    path,
    status,
    ms: Math.round(ms * 10) / 10,
    key: key ?? null,
    address,
  })
}

/** Returns whether a call of this method may change what other servers must learn of. */
export const mayChange = ({ db }: AppContext, method: string): boolean =>
  db.kind === 'postgres' && !/^(GET|HEAD|OPTIONS)$/.test(method)
