import { connectSegment, firstScopes, resourceMetadataUrl } from '../../apps/connectors/metadata.ts'
import type { Pages } from '../../apps/viewer/pages.ts'
import type { Urls } from '../../kernel/config/load.ts'
import type { AppContext } from '../../kernel/context.ts'
import { isApiError } from '../../kernel/errors.ts'
import { readJsonBody } from '../../kernel/http/body.ts'
import { contentOf } from '../../kernel/http/entity.ts'
import { isLocalHost, isOwnAddress, nameOf, parseHost, urlsFor } from '../../kernel/http/host.ts'
import type { Operation } from '../../kernel/http/operation.ts'
import { clientAddressGroup, getRequestContext, pathOf } from '../../kernel/http/request-context.ts'
import { keylessBodyBytesMax, mcpBatchMax, mcpBodyBytesMax } from '../../kernel/limits.ts'
import { isRecord, recordOf } from '../../kernel/schema.ts'
import { scopes } from '../../kernel/scopes.ts'
import { readApiKey } from '../../money/keys/keys.ts'
import { networkRejection } from '../../money/keys/restrictions.ts'
import { findAgentsOff, findSentKey, scopeOf } from '../../people/authentication.ts'
import { apiErrorResponse } from '../../people/error-response.ts'
import { beginBatch, findBatch } from './batch.ts'
import type { Extension } from './server.ts'
import { operationOf } from './tools.ts'
import { withViewSession } from './view-session.ts'

const connectPath = /^\/mcp\/connect\/?$/

/** The start of all tokens of connectors. */
const tokenStart = 'ct_'

/**
 * Returns the 401 of a token that is not live, and of a client without a live key at the address
 * where clients sign in. Elsewhere, calls without a key and with a wrong one get their tool errors.
 */
async function signInChallenge(ctx: AppContext, request: Request): Promise<Response | undefined> {
  const context = getRequestContext(request)
  context.acceptsTokens = true
  const isConnect = connectPath.test(pathOf(request.url))
  const text = readApiKey(request.headers)
  if (!isConnect && !text?.startsWith(tokenStart)) return undefined
  const key = text === undefined ? undefined : await findSentKey(ctx, context, text)
  if (key?.kind === 'agent' && key.revoked === null) return undefined
  const error = text === undefined ? {} : { error: 'invalid_token' }
  return challenge(ctx, request, 401, { ...error, scope: firstScopes.join(' ') })
}

/** Returns the 403 of a call that needs another scope than the connector has (RFC 6750, 3.1). */
async function scopeChallenge(
  ctx: AppContext,
  request: Request,
  body: unknown,
  operations: readonly Operation[],
): Promise<Response | undefined> {
  const text = readApiKey(request.headers)
  if (!text?.startsWith(tokenStart) || !isRecord(body) || body['method'] !== 'tools/call')
    return undefined
  const granted = (await ctx.keys.findToken(text))?.scopes ?? []
  const { name } = recordOf(body['params'])
  const operation = operationOf(operations, name)
  const needed = operation && operation.access.auth === 'agent' ? scopeOf(operation) : 'none'
  if (needed === 'none' || granted.includes(needed)) return undefined
  const all = scopes.filter((scope) => scope === needed || granted.includes(scope))
  return challenge(ctx, request, 403, { error: 'insufficient_scope', scope: all.join(' ') })
}

const messages = {
  401: 'Sign in: this address needs a token. Your program finds the sign-in in WWW-Authenticate.',
  403: 'Your person did not allow this connector to do this. Sign in again with the scope of WWW-Authenticate.',
}

/** Returns a response that says how to sign in (RFC 9728, 5.1). */
function challenge(
  ctx: AppContext,
  request: Request,
  status: 401 | 403,
  fields: Record<string, string>,
): Response {
  const { mcp } = urlsFor(ctx, request.headers)
  const resource = connectPath.test(pathOf(request.url)) ? mcp + connectSegment : mcp
  const all = { ...fields, resource_metadata: resourceMetadataUrl(resource) }
  const list = Object.entries(all).map(([name, value]) => `${name}="${value}"`)
  const error = { code: -32_000, message: messages[status] }
  const headers = { 'www-authenticate': `Bearer ${list.join(', ')}` }
  return Response.json({ jsonrpc: '2.0', error, id: null }, { status, headers })
}

export interface McpOptions {
  /** Tools and capabilities of tests. */
  extension?: Extension
  /** Ends open streams when the server stops. */
  stopping?: AbortSignal
}

type Serve = (request: Request, body: unknown) => Promise<Response>

/**
 * Creates the MCP endpoint (document 1, section 1: streamable HTTP, no authentication). Its tools
 * are the operations of the Agent API. They and the MCP library are loaded with the first request.
 */
export function createMcpEndpoint(ctx: AppContext, pages: Pages, options: McpOptions = {}) {
  const isAllowedHost = hostCheck(ctx.urls)
  let serve: Serve | undefined
  const respond = async (request: Request): Promise<Response> => {
    if (!isAllowedHost(request)) return wrongHostResponse(ctx)
    if (request.method === 'OPTIONS') return new Response(null, { status: 204 })
    const rejection = networkRejection(ctx, getRequestContext(request).client)
    if (rejection) return busyResponse(rejection.retryAfter)
    const challenge = ctx.config.agentsOn ? await signInChallenge(ctx, request) : undefined
    if (challenge) return challenge
    const body = await readMessage(ctx, request)
    if (body instanceof Response) return body
    const busy = charge(ctx, request, body.parsedBody, body.charged)
    if (busy) return busy
    const loaded = serve ?? (await load(ctx, pages, options))
    if (loaded instanceof Response) return loaded
    serve = loaded
    return withViewSession(body.parsedBody, await loaded(request, body.parsedBody))
  }
  return async (request: Request): Promise<Response> => {
    getRequestContext(request).route = '/mcp'
    const response = await respond(request)
    const origin = request.headers.get('origin')
    if (origin === null || response.status === 403) return response
    for (const [name, value] of Object.entries(corsHeaders)) response.headers.set(name, value)
    response.headers.set('access-control-allow-origin', origin)
    return response
  }
}

const corsHeaders = {
  vary: 'origin',
  'access-control-allow-methods': 'POST',
  'access-control-allow-headers':
    'authorization, content-type, x-api-key, last-event-id, mcp-method, mcp-name, mcp-protocol-version, mcp-session-id',
  'access-control-expose-headers': 'x-request-id, retry-after, mcp-session-id, www-authenticate',
  'access-control-max-age': '86400',
}

/** Returns the handler of the MCP library, or the error of an Agent API that is off. */
async function load(
  ctx: AppContext,
  pages: Pages,
  { extension, stopping }: McpOptions,
): Promise<Serve | Response> {
  const off = findAgentsOff(ctx)
  if (off) return apiErrorResponse(off)
  const [{ createListCache, createServerHandler }, { createToolset }, hosting] = await Promise.all([
    import('./server.ts'),
    import('./toolset.ts'),
    import('../agent-api.ts'),
  ])
  const { content } = contentOf(await hosting.describedAgentApi(ctx))
  const api = { description: await content.json(), operations: hosting.agentOperations, pages }
  const toolset = createToolset(ctx, api, extension)
  const handler = createServerHandler(toolset)
  stopping?.addEventListener('abort', () => void handler.close())
  const listed = createListCache(handler.fetch, toolset.areaOf)
  return async (request, body) =>
    (await scopeChallenge(ctx, request, body, api.operations)) ??
    listed(request, body, findBatch(request))
}

/**
 * Counts each message as one request of the client's address, with and without a key. A single
 * `tools/call` counts itself instead, whose error is a tool result. Returns the error of a
 * body that exceeds the rate; none of its messages run.
 */
function charge(
  ctx: AppContext,
  request: Request,
  body: unknown,
  charged: number,
): Response | undefined {
  if (body === undefined) return undefined
  if (Array.isArray(body)) beginBatch(request)
  const isCall = isRecord(body) && body['method'] === 'tools/call'
  const messages = Array.isArray(body) ? body.length : 1
  if (isCall || messages <= charged) return undefined
  const address = clientAddressGroup(request)
  const retryAfter = ctx.state.limits.apiRequests.take(address, messages - charged)
  return retryAfter === undefined ? undefined : busyResponse(retryAfter)
}

interface McpBody {
  /** Undefined: the library reads the body, or rejects the request. */
  parsedBody?: unknown
  /** Requests that already counted against the rate limit. */
  charged: number
}

/** Reads the message of a request within our limits. Returns an error response for a bad one. */
async function readMessage(ctx: AppContext, request: Request): Promise<McpBody | Response> {
  const isJson = /^application\/json *(;|$)/i.test(request.headers.get('content-type') ?? '')
  if (request.method !== 'POST' || !isJson) return { charged: 0 }
  const announced = Number(request.headers.get('content-length') ?? Number.NaN)
  const isLarge = !(announced <= keylessBodyBytesMax)
  if (isLarge) {
    // The key may be inside the body, so large bodies count against the address before that.
    const retryAfter = ctx.state.limits.apiRequests.take(clientAddressGroup(request))
    if (retryAfter !== undefined) return busyResponse(retryAfter)
  }
  try {
    const parsedBody = await readJsonBody(request, { max: mcpBodyBytesMax })
    if (parsedBody === undefined) {
      return errorResponse(400, -32_700, 'Parse error: the body is empty.')
    }
    if (Array.isArray(parsedBody) && parsedBody.length > mcpBatchMax) {
      return errorResponse(400, -32_600, `A batch has at most ${mcpBatchMax} messages.`)
    }
    return { parsedBody, charged: isLarge ? 1 : 0 }
  } catch (error) {
    if (isApiError(error, 'too_large')) {
      return errorResponse(413, -32_600, `A message has at most ${mcpBodyBytesMax} bytes.`)
    }
    if (isApiError(error, 'try_again')) return busyResponse(1)
    if (!isApiError(error, 'bad_request')) throw error
    const [{ problem }] = error.details
    return errorResponse(400, -32_700, `Parse error: ${problem}`)
  }
}

/** Returns an error without a message id (JSON-RPC 2.0, section 5.1). */
const errorResponse = (status: number, code: number, message: string): Response =>
  Response.json({ jsonrpc: '2.0', error: { code, message }, id: null }, { status })

function busyResponse(retryAfter: number): Response {
  const response = errorResponse(429, -32_000, `Too many requests. Try again in ${retryAfter} s.`)
  response.headers.set('retry-after', String(retryAfter))
  return response
}

const wrongHostResponse = ({ urls }: AppContext): Response =>
  errorResponse(
    403,
    -32_000,
    `The Host or Origin does not belong to this server. Use ${urls.mcp}. To allow another address, set MCP_URL.`,
  )

/**
 * Returns the check of `Host` and `Origin` against DNS rebinding: no page of another site may call
 * tools through a visitor's browser. A name that only a local network resolves can be the Host, but
 * another device of that network cannot be the Origin. Ports are ignored, because proxies and
 * containers change them.
 */
function hostCheck({ base, gateway, app, mcp }: Urls) {
  const own = new Set([
    'localhost',
    ...[base, gateway, app, mcp].map((url) => nameOf(new URL(url))),
  ])
  const isOwn = (name: string): boolean => own.has(name) || isOwnAddress(name)
  return (request: Request): boolean => {
    const host = nameOf(parseHost(request))
    const origin = request.headers.get('origin')
    if (host === undefined || !(isOwn(host) || isLocalHost(host))) return false
    const page = nameOf(URL.parse(origin ?? ''))
    return origin === null || (page !== undefined && (isOwn(page) || page === host))
  }
}
