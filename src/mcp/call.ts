import type { CallToolResult } from '@modelcontextprotocol/server'

import { isRecord } from '../core/schema.ts'
import { readApiKey } from '../keys/request-key.ts'
import { fieldOf, type Tool } from './tools.ts'

export type Arguments = Record<string, unknown>

/** Sends a request through the router, for a client at `address`. Default: this process. */
export type Send = (request: Request, address?: string) => Promise<Response>

/**
 * Returns the Agent API request of a tool call. Its key is the argument `key`, or else that of the
 * MCP request.
 */
export function requestOf(tool: Tool, args: Arguments, mcpRequest: Request, signal: AbortSignal) {
  const { method, path } = tool.operation
  const query = new URLSearchParams()
  const body: Arguments = {}
  let filledPath = path
  for (const [name, value] of Object.entries(args)) {
    const place = tool.places.get(name)
    if (place === 'path')
      filledPath = filledPath.replace(`{${name}}`, encodeURIComponent(String(value)))
    else if (place === 'query') query.set(name, String(value))
    else if (place === 'body') body[name] = value
  }
  const key = typeof args['key'] === 'string' ? args['key'] : readApiKey(mcpRequest.headers)
  const hasBody = [...tool.places.values()].includes('body')
  return new Request(`http://localhost/api${filledPath}?${query}`, {
    method,
    signal,
    headers: {
      ...(key !== undefined && { authorization: `Bearer ${key}` }),
      ...(hasBody && { 'content-type': 'application/json' }),
    },
    ...(hasBody && { body: JSON.stringify(body) }),
  })
}

/** Converts a response of the Agent API to a tool result: structured, and as text. */
export async function toolResult(response: Response): Promise<CallToolResult> {
  const media = response.headers.get('content-type')?.split(';')[0] ?? ''
  const text = await response.text()
  const value: unknown =
    media === 'application/json' ? JSON.parse(text) : { [fieldOf(media)]: text }
  return {
    content: [{ type: 'text', text }],
    ...(isRecord(value) && { structuredContent: value }),
    ...(!response.ok && { isError: true }),
  }
}

/** Returns the result of a call with invalid arguments. */
export const inputError = (error: string): CallToolResult => {
  const content = { error, code: 'bad_request' }
  return {
    content: [{ type: 'text', text: JSON.stringify(content) }],
    structuredContent: content,
    isError: true,
  }
}
