import { type CallToolResult, ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server'

import { agentApiUrl } from '../../apps/kinds.ts'
import { runFor } from '../../kernel/client.ts'
import type { AppContext } from '../../kernel/context.ts'
import { ApiError } from '../../kernel/errors.ts'
import { contentOf } from '../../kernel/http/entity.ts'
import type { IncomingCall, Operation } from '../../kernel/http/operation.ts'
import { Content, Replay, Revalidated, Success } from '../../kernel/http/outcome.ts'
import {
  getRequestContext,
  noteError,
  type RequestContext,
} from '../../kernel/http/request-context.ts'
import { isRecord, type Json, recordOf } from '../../kernel/schema.ts'
import { stopwatch } from '../../kernel/time.ts'
import { readApiKey } from '../../money/keys/keys.ts'
import { offeredBody, OfferedError, receiptOf } from '../../money/payment.ts'
import { fromHeader, toHeader } from '../../money/payments/x402/headers.ts'
import { perform } from '../../money/perform.ts'
import { errorEnvelope, internalErrorBody, knownError } from '../../people/error-response.ts'
import { admit, innerContext, mayChange, record } from '../http/middleware.ts'
import { fieldOf, type Place, type Tool } from './tools.ts'

/** The parts of an MCP message that a call needs beside its arguments. */
export interface CallContext {
  mcpRequest: Request
  signal: AbortSignal
  /** The `_meta` of the message. */
  meta: unknown
  /** The rate of the address has counted the call already. */
  isCounted: boolean
}

/** Names of `_meta` for payments (x402, "MCP transport"). */
const paymentName = 'x402/payment'
const receiptName = 'x402/payment-response'

/** Calls the operation of a tool. Errors are results. Throws InvalidParams for a bad argument. */
export const callTool = (
  ctx: AppContext,
  tool: Tool,
  args: Json,
  context: CallContext,
): Promise<CallToolResult> =>
  runTool(ctx, tool.operation, context, (inner) =>
    perform(ctx, tool.operation, callOf(ctx, tool, args, context, inner)),
  )

/**
 * Runs the work of a tool within the limits of its client, and returns what it returns as a result.
 * The method and the path are for the log. Errors are results, except a ProtocolError.
 */
export async function runTool(
  ctx: AppContext,
  { method, path }: Pick<Operation, 'method' | 'path'>,
  context: CallContext,
  work: (inner: RequestContext) => Promise<unknown>,
): Promise<CallToolResult> {
  const startedAt = stopwatch()
  const inner = innerContext(ctx, getRequestContext(context.mcpRequest))
  inner.route = `/api${path}`
  const response = await runFor(inner.client, () => respond(ctx, inner, context, work))
  const { status, value } = response
  // The stream of the MCP response has begun, so the router cannot tell of the change after it.
  if (mayChange(ctx, method) && status < 400) await ctx.state.appChanges.announce()
  const ms = stopwatch() - startedAt
  record(ctx, 'api', { context: inner, method, status, ms })
  const [, receipt] = receiptOf(ctx, inner) ?? []
  return {
    content: [{ type: 'text', text: response.text }],
    ...(isRecord(value) && { structuredContent: value }),
    ...(status >= 400 && { isError: true }),
    ...(receipt !== undefined && { _meta: { [receiptName]: fromHeader(receipt) } }),
  }
}

/**
 * Returns the place of an argument in the request. An unknown one is where the operation rejects
 * it; undefined where the operation takes no fields, and for the key.
 */
export function placeOf({ operation, definition, places }: Tool, name: string): Place | undefined {
  const known = places.get(name)
  if (known !== undefined || name === 'key' || definition.name !== operation.id) return known
  const all = [...places.values()]
  if (all.includes('body') || operation.input.body === 'none') return 'body'
  return all.includes('query') ? 'query' : undefined
}

/**
 * Returns the call of a tool. Its key is the argument `key`, or else that of the MCP request. Its
 * payment is that of `_meta`.
 */
function callOf(
  ctx: AppContext,
  tool: Tool,
  args: Json,
  { mcpRequest, signal, meta }: CallContext,
  context: RequestContext,
): IncomingCall {
  const payment = recordOf(meta)[paymentName]
  const { operation, places } = tool
  const { properties = {} } = tool.definition.inputSchema
  const isFlag = (name: string): boolean => recordOf(properties[name])['type'] === 'boolean'
  const argsOf = (place: Place): Json =>
    Object.fromEntries(Object.entries(args).filter(([name]) => placeOf(tool, name) === place))
  const at = { path: argsOf('path'), body: argsOf('body') }
  // Booleans are the texts true and false in a query.
  const query = Object.fromEntries(
    Object.entries(argsOf('query')).map(([name, value]) => [
      name,
      isFlag(name) && typeof value === 'boolean' ? String(value) : value,
    ]),
  )
  const hasBody = [...places.values()].includes('body') || Object.keys(at.body).length > 0
  try {
    const path = operation.path.replace(/:(\w+)|\*/g, (_, name: string = 'path') =>
      encodeURIComponent(String(at.path[name])),
    )
    return {
      method: operation.method,
      headers: new Headers({
        ...keyHeaders(mcpRequest, args),
        ...(payment !== undefined && { 'payment-signature': toHeader(payment) }),
      }),
      context,
      signal,
      resource: agentApiUrl(ctx, `/api${path}`),
      // The description has no name for the rest of a path.
      params: operation.path.includes('*') ? { ...at.path, '*': at.path['path'] } : at.path,
      query,
      source: { value: hasBody ? at.body : undefined },
    }
  } catch (error) {
    if (!(error instanceof TypeError || error instanceof URIError)) throw error
    const message =
      'A path argument or the key contains characters that a URL or header cannot carry.'
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, message)
  }
}

/** Returns the headers with the key of a call: the argument `key`, or that of the MCP request. */
export function keyHeaders(mcpRequest: Request, args: Json): { authorization?: string } {
  const key = typeof args['key'] === 'string' ? args['key'] : readApiKey(mcpRequest.headers)
  return key === undefined ? {} : { authorization: `Bearer ${key}` }
}

/** The response of a tool: a value and its text. Statuses of 400 and more are errors. */
interface ToolResponse {
  status: number
  value: unknown
  text: string
}

const jsonResponse = (status: number, value: unknown): ToolResponse => {
  const text = JSON.stringify(value)
  return { status, value: JSON.parse(text), text }
}

async function respond(
  ctx: AppContext,
  context: RequestContext,
  { isCounted }: CallContext,
  work: (inner: RequestContext) => Promise<unknown>,
): Promise<ToolResponse> {
  try {
    const rejection = admit(ctx, context, ctx.state.limits.apiRequests, isCounted)
    if (rejection) throw new ApiError('rate_limited', rejection)
    return await responseOf(await work(context))
  } catch (thrown) {
    if (thrown instanceof ProtocolError) throw thrown
    const error = thrown instanceof OfferedError ? thrown.error : thrown
    noteError(ctx, context, error)
    const known = knownError(error)
    if (!known) {
      ctx.log.error('unexpected', error, { id: context.id, route: context.route })
      return jsonResponse(500, internalErrorBody(context.id))
    }
    const { status, body } = errorEnvelope(known)
    return jsonResponse(status, thrown instanceof OfferedError ? offeredBody(thrown, body) : body)
  }
}

async function responseOf(outcome: unknown): Promise<ToolResponse> {
  if (outcome instanceof Success) return jsonResponse(outcome.status, outcome.value)
  if (outcome instanceof Replay) return responseOf(outcome.success)
  if (outcome instanceof Revalidated) {
    const { type, content } = contentOf(outcome.entity)
    return textResponse(type, await content.text())
  }
  if (!(outcome instanceof Content)) return jsonResponse(200, outcome)
  const { body, headers } = outcome
  if (body instanceof Blob || (typeof body === 'object' && !(body instanceof Uint8Array)))
    throw new Error('a tool cannot return a stream')
  const text = typeof body === 'string' ? body : new TextDecoder().decode(body)
  return textResponse(headers['content-type'] ?? '', text)
}

function textResponse(type: string, text: string): ToolResponse {
  const [media = ''] = type.split(';')
  return { status: 200, value: { [fieldOf(media)]: text }, text }
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
