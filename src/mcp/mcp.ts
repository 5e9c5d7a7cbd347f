import type { AppContext } from '../context.ts'
import { readJson } from '../core/body.ts'
import { isApiError } from '../errors.ts'
import { callerAddress, inProcessPeer, requestContextOf } from '../http/request-context.ts'
import { keylessBodyBytesMax, mcpBatchMax, mcpBodyBytesMax } from '../limits.ts'
import type { Send } from './call.ts'
import { openHosts } from './host.ts'
import type { Extension } from './server.ts'

export interface McpOptions {
  /** What only tests serve. */
  extension?: Extension
  /** When it aborts, streams that would stay open end. */
  stopping?: AbortSignal
}

type Serve = (request: Request, options: { parsedBody?: unknown }) => Promise<Response>

/**
 * The MCP endpoint (document 1, section 1: streamable HTTP, no authentication): the Agent API's
 * operations as tools, each a request through our own front door. The protocol's library is loaded
 * with the first request.
 */
export function openMcp(ctx: AppContext, send: Send, options: McpOptions = {}) {
  const isOurs = openHosts(ctx.urls)
  let serve: Serve | undefined
  const answer = async (request: Request): Promise<Response> => {
    if (!isOurs(request)) return foreign(ctx)
    if (request.method === 'OPTIONS') return new Response(null, { status: 204 })
    const body = await read(ctx, request)
    if (body instanceof Response) return body
    const opened = serve ?? (await open(ctx, send, options))
    if (opened instanceof Response) return opened
    serve = opened
    return opened(request, body)
  }
  return async (request: Request): Promise<Response> => {
    requestContextOf(request).route = '/mcp'
    const response = await answer(request)
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
  'access-control-expose-headers': 'x-request-id, retry-after',
  'access-control-max-age': '86400',
}

async function open(
  ctx: AppContext,
  send: Send,
  { extension, stopping }: McpOptions,
): Promise<Serve | Response> {
  const described = await send(new Request('http://localhost/api/openapi.json'), inProcessPeer)
  if (!described.ok) return described
  const [{ openHandler }, { openShelf }] = await Promise.all([
    import('./server.ts'),
    import('./shelf.ts'),
  ])
  const handler = openHandler(openShelf(ctx, await described.json(), send, extension))
  stopping?.addEventListener('abort', () => void handler.close())
  return handler.fetch
}

/** The message of a request, read within our bounds, or the answer that says what is wrong. */
async function read(
  ctx: AppContext,
  request: Request,
): Promise<{ parsedBody?: unknown } | Response> {
  const isJson = /^application\/json *(;|$)/i.test(request.headers.get('content-type') ?? '')
  if (request.method !== 'POST' || !isJson) return {}
  const announced = Number(request.headers.get('content-length') ?? Number.NaN)
  if (!(announced <= keylessBodyBytesMax)) {
    // The key may stand inside, so what is large counts before it is read.
    const retryAfter = ctx.apiRequests.take(callerAddress(request))
    if (retryAfter !== undefined) return busy(retryAfter)
  }
  try {
    const parsedBody = await readJson(request, mcpBodyBytesMax)
    if (parsedBody === undefined) return failed(400, -32_700, 'Parse error: the body is empty.')
    if (Array.isArray(parsedBody) && parsedBody.length > mcpBatchMax) {
      return failed(400, -32_600, `A batch has at most ${mcpBatchMax} messages.`)
    }
    return { parsedBody }
  } catch (error) {
    if (isApiError(error, 'too_large')) {
      return failed(413, -32_600, `A message has at most ${mcpBodyBytesMax} bytes.`)
    }
    if (isApiError(error, 'try_again')) return busy(1)
    if (!isApiError(error, 'bad_request')) throw error
    const [{ problem }] = error.details
    return failed(400, -32_700, `Parse error: ${problem}`)
  }
}

/** An error of JSON-RPC 2.0, section 5.1, for a message that cannot be told from others. */
const failed = (status: number, code: number, message: string): Response =>
  Response.json({ jsonrpc: '2.0', error: { code, message }, id: null }, { status })

function busy(retryAfter: number): Response {
  const answer = failed(429, -32_000, `Too many requests. Try again in ${retryAfter} s.`)
  answer.headers.set('retry-after', String(retryAfter))
  return answer
}

const foreign = ({ urls }: AppContext): Response =>
  failed(
    403,
    -32_000,
    `This Host or Origin is not ours. Use ${urls.mcp}; an operator sets MCP_URL to another address.`,
  )
