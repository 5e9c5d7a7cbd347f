import {
  type CallToolResult,
  createMcpHandler,
  type InputRequiredResult,
  isInputRequiredResult,
  isSpecType,
  McpServer,
  ProtocolError,
  ProtocolErrorCode,
  type ServerContext,
  specTypeSchemas,
  type Tool as Definition,
} from '@modelcontextprotocol/server'

import { Cache } from '../../kernel/lazy.ts'
import { mcpListsMax, mcpSubscriptionsMax } from '../../kernel/limits.ts'
import { isRecord, type Json } from '../../kernel/schema.ts'
import { version } from '../../kernel/version.ts'
import { type Batch, findBatch, spentMessage } from './batch.ts'
import { isViewSession, showsViews, viewExtension } from './view-session.ts'

type ToolResult = CallToolResult | InputRequiredResult

export interface ServedTool {
  definition: Definition
  call(args: Json, context: ServerContext): ToolResult | Promise<ToolResult>
}

export interface Toolset {
  instructions: string
  /** Returns the tools of `tools/list`. `hasViews`: the host shows apps in its chats. */
  list(request: Request, hasViews: boolean): Definition[]
  /** Returns the area of `tools/list`; '' where the list is the default one. */
  areaOf(request: Request): string
  find(name: string): ServedTool | undefined
  /** Adds resources and prompts. */
  extend: Extension['extend']
}

/** Tools and capabilities that a test adds. */
export interface Extension {
  tools: ServedTool[]
  extend(server: McpServer, request?: Request): void
}

/** The list changes only with the process. Clients may cache it for one hour. */
const listParams = { params: specTypeSchemas.PaginatedRequestParams }
const listCaching = { ttlMs: 3_600_000, cacheScope: 'public' as const }

/** The server of one request. McpServer's own tools would be compiled for each request. */
class ToolServer extends McpServer {
  constructor(
    private readonly toolset: Toolset,
    request: Request | undefined,
  ) {
    super(
      { name: 'berth', title: 'Berth', version },
      {
        capabilities: { tools: { listChanged: false }, extensions: { [viewExtension]: {} } },
        instructions: toolset.instructions,
        cacheHints: { 'tools/list': listCaching, 'server/discover': listCaching },
      },
    )
    toolset.extend(this, request)
    this.server.setRequestHandler('tools/list', listParams, () => {
      const tools = request ? toolset.list(request, this.#hasViews(request)) : []
      const batch = request && findBatch(request)
      if (batch && !batch.spend(JSON.stringify(tools).length)) {
        throw new ProtocolError(-32_000, spentMessage)
      }
      return { tools }
    })
    this.server.setRequestHandler('tools/call', async ({ params }, context) => {
      const tool = toolset.find(params.name)
      if (!tool) {
        throw new ProtocolError(
          ProtocolErrorCode.InvalidParams,
          'This tool does not exist. List the tools with tools/list.',
        )
      }
      const result = await tool.call(params.arguments ?? {}, context)
      return isInputRequiredResult(result)
        ? result
        : this.server.projectCallToolResult(result, tool.definition.outputSchema)
    })
  }

  /** A client of the newer revision declares its capabilities with each request. */
  #hasViews(request: Request): boolean {
    return isViewSession(request) || showsViews(this.server.getClientCapabilities())
  }

  /** The library validates `Mcp-Param-*` headers by this schema. */
  override toolInputSchemaJson(name: string): Record<string, unknown> | undefined {
    return this.toolset.find(name)?.definition.inputSchema
  }
}

/**
 * Returns whether a message is an `initialize` with invalid parameters, which the library calls an
 * internal error. Other methods check their own. The revisions with the header Mcp-Method have no
 * `initialize`: the library rejects it as unknown.
 */
export const isInvalidInitialize = (message: unknown, headers: Headers): boolean =>
  isRecord(message) &&
  message['method'] === 'initialize' &&
  !headers.has('mcp-method') &&
  !isSpecType.InitializeRequest(message)

/** Serves revision 2026-07-28 and the older ones with `initialize` at one URL. */
export const createServerHandler = (toolset: Toolset) =>
  createMcpHandler(({ requestInfo }) => new ToolServer(toolset, requestInfo), {
    maxSubscriptions: mcpSubscriptionsMax,
  })

type Serve = (request: Request, options: { parsedBody?: unknown }) => Promise<Response>

type ListRequest = { jsonrpc: '2.0'; id: string | number; method: 'tools/list' }

/**
 * Returns whether a message is a `tools/list` of the revisions with `initialize`, without
 * parameters. The library answers all others: it checks headers and envelopes.
 */
const isListRequest = (message: unknown): message is ListRequest =>
  isRecord(message) &&
  message['jsonrpc'] === '2.0' &&
  message['method'] === 'tools/list' &&
  (typeof message['id'] === 'string' || Number.isSafeInteger(message['id'])) &&
  (message['params'] === undefined || isEmpty(message['params']))

const isEmpty = (params: unknown): boolean => isRecord(params) && Object.keys(params).length === 0

const eventHeaders = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
}

/**
 * Answers `tools/list` from memory. The library would validate, convert and serialize 80 KB for
 * each message. The first list of a revision and an area comes from the library.
 */
export function createListCache(serve: Serve, areaOf: (request: Request) => string) {
  const lists = new Cache<string>(mcpListsMax)

  /** Returns the serialized result, or undefined where the library rejects the request. */
  async function findList(request: Request): Promise<string | undefined> {
    const { headers } = request
    const accept = headers.get('accept') ?? ''
    const isLegacy = !headers.has('mcp-method') && !headers.has('mcp-name')
    if (!isLegacy || !/application\/json/.test(accept) || !/text\/event-stream/.test(accept)) {
      return undefined
    }
    const version = headers.get('mcp-protocol-version')
    const key = `${version} ${areaOf(request)} ${isViewSession(request)}`
    const known = lists.get(key)
    if (known !== undefined) return known
    const response = await serve(request, {
      parsedBody: { jsonrpc: '2.0', id: 0, method: 'tools/list' },
    })
    const text = await response.text()
    const message: unknown = JSON.parse(/^data: (.+)$/m.exec(text)?.[1] ?? 'null')
    if (response.status !== 200 || !isRecord(message) || !isRecord(message['result'])) {
      return undefined
    }
    const list = JSON.stringify(message['result'])
    lists.set(key, list)
    return list
  }

  return async (request: Request, body: unknown, batch: Batch | undefined): Promise<Response> => {
    const messages = Array.isArray(body) ? body : [body]
    const invalid = messages.find((message) => isInvalidInitialize(message, request.headers))
    if (invalid !== undefined) return invalidParamsResponse(invalid)
    const listRequests = messages.filter(isListRequest)
    const list = listRequests.length > 0 ? await findList(request) : undefined
    if (list === undefined) return serve(request, { parsedBody: body })
    const events = listRequests.map(({ id }) => {
      const outcome =
        !batch || batch.spend(list.length)
          ? `"result":${list}`
          : `"error":${JSON.stringify({ code: -32_000, message: spentMessage })}`
      return `event: message\ndata: {"jsonrpc":"2.0","id":${JSON.stringify(id)},${outcome}}\n\n`
    })
    const others = messages.filter((message) => !isListRequest(message))
    if (others.length === 0) return new Response(events.join(''), { headers: eventHeaders })
    const response = await serve(request, { parsedBody: others })
    const isRejected = response.status >= 300
    const isStream = response.headers.get('content-type') === eventHeaders['content-type']
    if (isRejected || (response.body && !isStream)) return response
    return new Response(prepend(events.join(''), response.body), { headers: eventHeaders })
  }
}

function invalidParamsResponse(message: { id?: unknown }): Response {
  const error = { code: ProtocolErrorCode.InvalidParams, message: 'The parameters are invalid.' }
  return Response.json({ jsonrpc: '2.0', id: message.id ?? null, error }, { status: 400 })
}

/** Returns a stream of a text and then a body. */
function prepend(
  text: string,
  body: ReadableStream<Uint8Array> | null,
): ReadableStream<Uint8Array> {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>()
  const write = async (): Promise<void> => {
    const writer = writable.getWriter()
    await writer.write(new TextEncoder().encode(text))
    writer.releaseLock()
    await (body ? body.pipeTo(writable) : writable.close())
  }
  // A client that leaves cancels the readable side, which ends the body.
  write().catch(() => undefined)
  return readable
}
