import type { CallToolResult } from '@modelcontextprotocol/server'

import { isRecord } from '../core/schema.ts'
import { keyText } from '../keys/sent.ts'
import { fieldOf, type Tool } from './tools.ts'

export type Arguments = Record<string, unknown>

/** Brings a request of a caller at `address` to our own front door. */
export type Send = (request: Request, address: string) => Response | Promise<Response>

/**
 * The request that a call stands for, to the Agent API as it is mounted inside. The key is the
 * argument `key`, else the one that `outer` carries.
 */
export function requestOf(tool: Tool, given: Arguments, outer: Request, signal: AbortSignal) {
  const { method, path } = tool.operation
  const query = new URLSearchParams()
  const body: Arguments = {}
  let filled = path
  for (const [name, value] of Object.entries(given)) {
    const place = tool.places.get(name)
    if (place === 'path') filled = filled.replace(`{${name}}`, encodeURIComponent(String(value)))
    else if (place === 'query') query.set(name, String(value))
    else if (place === 'body') body[name] = value
  }
  const sent = typeof given['key'] === 'string' ? given['key'] : keyText(outer.headers)
  const hasBody = [...tool.places.values()].includes('body')
  return new Request(`http://localhost/api${filled}?${query}`, {
    method,
    signal,
    headers: {
      ...(sent !== undefined && { authorization: `Bearer ${sent}` }),
      ...(hasBody && { 'content-type': 'application/json' }),
    },
    ...(hasBody && { body: JSON.stringify(body) }),
  })
}

/** An answer of the Agent API as a tool's result: structured, and as text; a refusal isError. */
export async function resultOf(answer: Response): Promise<CallToolResult> {
  const media = answer.headers.get('content-type')?.split(';')[0] ?? ''
  const text = await answer.text()
  const value: unknown =
    media === 'application/json' ? JSON.parse(text) : { [fieldOf(media)]: text }
  return {
    content: [{ type: 'text', text }],
    ...(isRecord(value) && { structuredContent: value }),
    ...(!answer.ok && { isError: true }),
  }
}

/** A refusal of ours before anything is called, in the words of the Agent API. */
export const refused = (error: string): CallToolResult => {
  const refusal = { error, code: 'bad_request' }
  return {
    content: [{ type: 'text', text: JSON.stringify(refusal) }],
    structuredContent: refusal,
    isError: true,
  }
}
