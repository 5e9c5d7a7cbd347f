import type { CallToolResult } from '@modelcontextprotocol/server'

import { isRecord, type Json, recordOf } from '../core/schema.ts'
import { readApiKey } from '../keys/request-key.ts'
import { fromHeader, toHeader } from '../payments/x402/header.ts'
import { fieldOf, type Tool } from './tools.ts'

/** Sends a request through the router, for a client at `address`. Default: this process. */
export type Send = (request: Request, address?: string) => Promise<Response>

/** The parts of an MCP message that a call needs beside its arguments. */
interface CallContext {
  mcpRequest: Request
  signal: AbortSignal
  /** The `_meta` of the message. */
  meta: unknown
}

/** Names of `_meta` for payments (x402, "MCP transport"). */
const paymentName = 'x402/payment'
const receiptName = 'x402/payment-response'

/**
 * Returns the Agent API request of a tool call. Its key is the argument `key`, or else that of the
 * MCP request. Its payment is that of `_meta`.
 */
export function requestOf(tool: Tool, args: Json, { mcpRequest, signal, meta }: CallContext) {
  const payment = recordOf(meta)[paymentName]
  const { method, path } = tool.operation
  const query = new URLSearchParams()
  const body: Json = {}
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
      ...(payment !== undefined && { 'payment-signature': toHeader(payment) }),
    },
    ...(hasBody && { body: JSON.stringify(body) }),
  })
}

/** Converts a response of the Agent API to a tool result: structured, and as text. */
export async function toolResult(response: Response): Promise<CallToolResult> {
  const media = response.headers.get('content-type')?.split(';')[0] ?? ''
  const text = await response.text()
  const { headers } = response
  const receipt = headers.get('payment-response') ?? headers.get('x-payment-response')
  const value: unknown =
    media === 'application/json' ? JSON.parse(text) : { [fieldOf(media)]: text }
  return {
    content: [{ type: 'text', text }],
    ...(isRecord(value) && { structuredContent: value }),
    ...(!response.ok && { isError: true }),
    ...(receipt !== null && { _meta: { [receiptName]: fromHeader(receipt) } }),
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
