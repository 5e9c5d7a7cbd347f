import type { Urls } from '../config/urls.ts'
import type { AppContext } from '../context.ts'
import { addressGroup, clientAddress, isTrusted } from '../core/address.ts'
import { newOrderedId } from '../core/ids.ts'
import { stopwatch } from '../core/time.ts'
import type { TrafficPart } from '../core/traffic.ts'
import { ApiError } from '../errors.ts'
import * as gateway from '../gateway/envelope.ts'
import { isGateway } from '../gateway/paths.ts'
import * as hosting from '../hosting/envelope.ts'
import { type McpOptions, openMcp } from '../mcp/mcp.ts'
import { playPath } from '../web/paths.ts'
import { inProcessPeer, pathOf, type RequestContext, setRequestContext } from './request-context.ts'

/**
 * Answers a request. `peer` is the address of its socket; `mayBeSilent` lets the socket be silent,
 * for what has a clock of its own, from the end of the request to the beginning of its answer, and
 * while a sound is waited for that goes on: else something moves, or the client has stopped.
 */
export type Door = (
  request: Request,
  peer: string,
  mayBeSilent?: (isAllowed: boolean) => void,
) => Response | Promise<Response>

interface App {
  fetch(request: Request): Response | Promise<Response>
}

/** Any page may ask both APIs and read all of their answers; no cookie goes along. */
const corsHeaders = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': '*',
}

const corsLines = Object.entries(corsHeaders)

/** A star names every header but `authorization`; clients of many makers send some of their own. */
const preflightHeaders = {
  ...corsHeaders,
  'access-control-allow-methods': 'GET, POST, PUT, PATCH, DELETE',
  'access-control-allow-headers': 'authorization, *',
  'access-control-max-age': '86400',
}

const preflight = (): Response => new Response(null, { status: 204, headers: preflightHeaders })

function openToAll(response: Response): Response {
  const { headers } = response
  for (const [name, value] of corsLines) headers.set(name, value)
  headers.set('x-content-type-options', 'nosniff')
  // Caches know `authorization` and nothing of X-API-Key: what does not say so is for nobody else.
  if (!headers.has('cache-control')) headers.set('cache-control', 'no-store')
  return response
}

/**
 * The front door: every request gets an id, an address, its room (by Host, where the parts have
 * hosts of their own), a place in its address's rate, and one line in the log.
 */
export function openDoor(ctx: AppContext, app: App, options?: McpOptions): Door {
  const inside = roomFinder(ctx.urls)
  const mcp = openMcp(ctx, (request, address) => door(request, address), options)
  const door: Door = (outer, peer, mayBeSilent) => {
    const started = stopwatch()
    const request = inside(outer)
    const path = pathOf(request.url)
    const part = partOf(path)
    const hasClock = part === 'gateway' || path === playPath
    const visit = visitFor(ctx, request, peer)
    if (hasClock) visit.mayBeSilent = mayBeSilent
    setRequestContext(request, visit)
    const leave = (response: Response): Response => {
      visit.mayBeSilent?.(false)
      const ms = stopwatch() - started
      ctx.state.traffic.count(part, response.status, ms)
      response.headers.set('x-request-id', visit.id)
      if (peer === inProcessPeer) return response
      ctx.log.info('request', {
        id: visit.id,
        method: request.method,
        route: visit.route ?? null,
        status: response.status,
        ms: Math.round(ms * 10) / 10,
        key: visit.keyPrefix ?? null,
        address: visit.address,
      })
      return response
    }
    const answer = part === 'mcp' ? mcp(request) : rooms[part](ctx, app, request, visit)
    // What is at hand is answered at once: a promise costs as much as the rest of this function.
    return answer instanceof Promise ? answer.then(leave) : leave(answer)
  }
  return door
}

const starting = (): Response => new Response('Starting.', { status: 503 })
const refusing = { api: hosting.errorAnswer, gateway: gateway.errorAnswer }

/** Stands for the front door while the house is opened: both APIs refuse in their own words. */
export const openingDoor: Door = (request) => {
  const part = partOf(pathOf(request.url))
  const isApi = part === 'api' || part === 'gateway'
  const response = isApi ? refusing[part](new ApiError('try_again', {}), starting) : starting()
  response.headers.set('retry-after', '1')
  return openToAll(response)
}

function partOf(path: string): TrafficPart {
  if (path.startsWith('/a/') || path === '/frame') return 'apps'
  if (path === '/api' || path.startsWith('/api/')) return 'api'
  if (path === '/mcp' || path === '/mcp/') return 'mcp'
  return isGateway(path) ? 'gateway' : 'pages'
}

type Room = (
  ctx: AppContext,
  app: App,
  request: Request,
  visit: RequestContext,
) => Response | Promise<Response>

const openAnswer: Room = (_house, app, request) => app.fetch(request)

/** The gateway's answer, which also tells what is left of the rate. */
async function gatewayAnswer(
  ctx: AppContext,
  app: App,
  request: Request,
  visit: RequestContext,
): Promise<Response> {
  if (request.method === 'OPTIONS') return preflight()
  const { gatewayRequests: rate } = ctx.state
  const address = addressGroup(visit.address)
  const retryAfter = rate.take(address)
  const response =
    retryAfter === undefined
      ? await app.fetch(request)
      : gateway.tooManyRequests(rate.max, retryAfter)
  if (rate.max > 0) {
    const { calls, resetAfter } = rate.left(address)
    response.headers.set('x-ratelimit-limit-requests', String(rate.max))
    response.headers.set('x-ratelimit-remaining-requests', String(calls))
    response.headers.set('x-ratelimit-reset-requests', `${resetAfter}s`)
  }
  return openToAll(response)
}

/** An API's answer: open to every origin, without cookies, within the address's rate. */
async function apiAnswer(
  ctx: AppContext,
  app: App,
  request: Request,
  visit: RequestContext,
): Promise<Response> {
  if (request.method === 'OPTIONS') return preflight()
  const retryAfter = ctx.state.apiRequests.take(addressGroup(visit.address))
  const response =
    retryAfter === undefined
      ? await app.fetch(request)
      : hosting.answerOf(
          new ApiError('rate_limited', { max: ctx.state.apiRequests.max, retryAfter }),
        )
  return openToAll(response)
}

function visitFor(ctx: AppContext, request: Request, peer: string): RequestContext {
  const { trustedProxies, personHeader } = ctx.config
  const forwarded = trustedProxies.length > 0 ? request.headers.get('x-forwarded-for') : null
  const visit = {
    id: newOrderedId(ctx.clock.now()),
    address: clientAddress(peer, forwarded, trustedProxies),
  }
  if (!personHeader || !isTrusted(peer, trustedProxies)) return visit
  return { ...visit, vouchedFor: request.headers.get(personHeader) ?? undefined }
}

/** How each part is answered. */
const rooms: Record<Exclude<TrafficPart, 'mcp'>, Room> = {
  api: apiAnswer,
  gateway: gatewayAnswer,
  apps: openAnswer,
  pages: openAnswer,
}

/** Where each public address leads inside. */
const mounts = [
  ['base', '/api'],
  ['mcp', '/mcp'],
  ['gateway', ''],
] as const

/** Turns a request to a part's own public address into one to the place where it is mounted. */
function roomFinder(urls: Urls): (request: Request) => Request {
  const moved = mounts.flatMap(([name, mount]) => {
    const { host, pathname } = new URL(urls[name])
    const from = pathname.replace(/\/$/, '')
    return from === mount ? [] : [{ host, from, mount }]
  })
  if (moved.length === 0) return (request) => request
  return (request) => {
    const url = new URL(request.url)
    // A host name may be written with the dot of the root behind it.
    const host = request.headers.get('host')?.replace(/\.(?=:|$)/, '')
    const part = moved.find(
      ({ host: its, from }) => its === host && `${url.pathname}/`.startsWith(`${from}/`),
    )
    if (!part) return request
    url.pathname = part.mount + url.pathname.slice(part.from.length)
    return new Request(url.href, request)
  }
}
