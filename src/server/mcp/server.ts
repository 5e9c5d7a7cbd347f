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

import { mcpSubscriptionsMax } from '../../kernel/limits.ts'
import { isRecord, type Json } from '../../kernel/schema.ts'
import { version } from '../../kernel/version.ts'
import { findBatch, spentMessage } from './batch.ts'
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
