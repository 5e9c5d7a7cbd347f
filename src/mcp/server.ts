import {
  type CallToolResult,
  createMcpHandler,
  type InputRequiredResult,
  isInputRequiredResult,
  McpServer,
  ProtocolError,
  ProtocolErrorCode,
  type ServerContext,
  type Tool as Definition,
} from '@modelcontextprotocol/server'

import { mcpSubscriptionsMax } from '../limits.ts'
import { version } from '../version.ts'
import type { Arguments } from './call.ts'

type Result = CallToolResult | InputRequiredResult

/** A tool as the protocol serves it. */
export interface ServedTool {
  definition: Definition
  call(given: Arguments, context: ServerContext): Result | Promise<Result>
}

/** What is served. */
export interface Shelf {
  instructions: string
  /** The tools that a request's list shows. */
  listed(request: Request): ServedTool[]
  find(name: string): ServedTool | undefined
  /** What only tests serve beside the tools. */
  extend?: Extension['extend']
}

/** What a test adds: tools of its own, and what else of the protocol its server speaks. */
export interface Extension {
  tools: ServedTool[]
  extend(server: McpServer): void
}

/** The list is the same as long as this process lives; a client may ask again after an hour. */
const listed = { ttlMs: 3_600_000, cacheScope: 'public' as const }

/** One request's server. The protocol's own class would compile every tool for each of them. */
class ToolServer extends McpServer {
  constructor(
    private readonly shelf: Shelf,
    request: Request | undefined,
  ) {
    super(
      { name: 'berth', title: 'Berth', version },
      {
        capabilities: { tools: { listChanged: false } },
        instructions: shelf.instructions,
        cacheHints: { 'tools/list': listed, 'server/discover': listed },
      },
    )
    shelf.extend?.(this)
    this.server.setRequestHandler('tools/list', () => ({
      tools: request ? shelf.listed(request).map(({ definition }) => definition) : [],
    }))
    this.server.setRequestHandler('tools/call', async ({ params }, context) => {
      const tool = shelf.find(params.name)
      if (!tool) {
        throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'There is no such tool.')
      }
      const result = await tool.call(params.arguments ?? {}, context)
      return isInputRequiredResult(result)
        ? result
        : this.server.projectCallToolResult(result, tool.definition.outputSchema)
    })
  }

  /** What the protocol's front checks the headers `Mcp-Param-*` by. */
  override toolInputSchemaJson(name: string): Record<string, unknown> | undefined {
    return this.shelf.find(name)?.definition.inputSchema
  }
}

/** Serves both eras of the protocol at one address: 2026-07-28, and those with `initialize`. */
export const openHandler = (shelf: Shelf) =>
  createMcpHandler(({ requestInfo }) => new ToolServer(shelf, requestInfo), {
    maxSubscriptions: mcpSubscriptionsMax,
  })
