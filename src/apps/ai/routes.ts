import { Elysia } from 'elysia'

import { inOwnEnvelope, setRequestId } from '../../gateway/envelopes.ts'
import { errorEnvelope, isGatewayError, repeatedError } from '../../gateway/error-response.ts'
import { countPaidCall, getOperation, performPaid } from '../../gateway/session-calls.ts'
import type { AppContext } from '../../kernel/context.ts'
import { ApiError, type ErrorName, rejectRequest } from '../../kernel/errors.ts'
import { readBodyBytes, readJsonBody } from '../../kernel/http/body.ts'
import { getRequestContext, senderOf } from '../../kernel/http/request-context.ts'
import { type ErrorReply, errorResponse, toResponse } from '../../kernel/http/response.ts'
import {
  aiBodyBytesMax,
  aiFileBytesMax,
  aiOutputTokens,
  aiTextBytesMax,
} from '../../kernel/limits.ts'
import { isRecord, type Json, lookUp, recordOf } from '../../kernel/schema.ts'
import { StoredError } from '../../money/idempotency/idempotency.ts'
import * as hosting from '../../people/error-response.ts'
import { getVisitor } from '../../people/session-user.ts'
import { getPlayable } from '../playable.ts'
import { appModel, type Work } from './models.ts'
import { findPayer } from './sponsors.ts'
import { measureTurn } from './turns.ts'

const routes: Record<string, Work> = {
  'v1/chat/completions': 'chat',
  'v1/messages': 'chat',
  'v1/responses': 'chat',
  'v1/images/generations': 'image',
  'v1/audio/speech': 'speech',
  'v1/audio/transcriptions': 'transcription',
}
const geminiMethod = /^v1beta\/models\/([^:]+):(generateContent|streamGenerateContent)$/

/** A request as the gateway gets it: with a model of this server, and within the bounds. */
interface ModelRequest {
  work: Work
  route: string
  params: Record<string, string>
  /** Returns the body for a payer: the same JSON, which no reader changes, or a new request. */
  source(): { value: Json } | { request: Request }
}

/**
 * Reads a request of a page for a path such as "v1/messages". Its model becomes one of this server.
 * The output is bounded where the page does not do so, so that the hold fits a small cap.
 * Throws `not_found` for other paths, `bad_request`, `too_large` and `no_model`.
 */
async function readModelRequest(
  ctx: AppContext,
  request: Request,
  path: string,
): Promise<ModelRequest> {
  const gemini = geminiMethod.exec(path)
  if (gemini) {
    const [, name, method] = gemini
    const body = await readJson(request, path)
    const model = appModel(ctx, 'chat', name).id
    const given = body['generationConfig']
    body['generationConfig'] = { maxOutputTokens: aiOutputTokens, ...(isRecord(given) && given) }
    const params = { '*': `${model}:${method}` }
    return { work: 'chat', route: '/models/*', params, source: () => ({ value: body }) }
  }
  const work = lookUp(routes, path)
  if (!work) throw new ApiError('not_found', { what: 'model call' })
  const route = path.slice('v1'.length)
  if (work === 'transcription') {
    const create = await readForm(ctx, request)
    return { work, route, params: {}, source: () => ({ request: create() }) }
  }
  const body = await readJson(request, path)
  body['model'] = appModel(ctx, work, String(body['model'] ?? '')).id
  // Responses that another app of this player caused are not this one's.
  delete body['cache']
  return { work, route, params: {}, source: () => ({ value: body }) }
}

/** Tools that the page or the model runs. Others reach servers and files that a page may not. */
const isOwnTool = (tool: unknown): boolean =>
  /^(?:function|custom|web_search)/.test(String(recordOf(tool)['type']))

const asSystem = (message: unknown): unknown =>
  isRecord(message) && message['role'] === 'developer' ? { ...message, role: 'system' } : message

/** Changes of the bodies of chats. */
const prepare: Record<string, (body: Json) => void> = {
  'v1/chat/completions': (body) => {
    body['max_completion_tokens'] ??= body['max_tokens'] ?? aiOutputTokens
    delete body['max_tokens']
    const { messages } = body
    // Pages send the newer name of OpenAI, which the setting of a server may reject.
    if (Array.isArray(messages)) body['messages'] = messages.map(asSystem)
  },
  'v1/messages': (body) => {
    body['max_tokens'] ??= aiOutputTokens
    // Servers of others would get what the page sends. The model answers without them.
    delete body['mcp_servers']
  },
  'v1/responses': (body) => {
    body['max_output_tokens'] ??= aiOutputTokens
    body['store'] = false
    // Stored on the account that pays, which other apps use too.
    for (const name of ['previous_response_id', 'conversation', 'prompt', 'background']) {
      delete body[name]
    }
    const { input, tools } = body
    if (Array.isArray(input)) {
      body['input'] = input.filter((item) => recordOf(item)['type'] !== 'item_reference')
    }
    if (Array.isArray(tools)) body['tools'] = tools.filter(isOwnTool)
  },
}

async function readJson(request: Request, path: string): Promise<Json> {
  const body = await readJsonBody(request, { max: aiBodyBytesMax })
  if (!isRecord(body)) rejectRequest('The body is a JSON object.')
  lookUp(prepare, path)?.(body)
  const sizes = { text: 0, files: 0 }
  measure(body, '', sizes)
  if (sizes.text > aiTextBytesMax) {
    throw new ApiError('too_large', { bytes: sizes.text, max: aiTextBytesMax })
  }
  if (sizes.files > aiFileBytesMax) {
    throw new ApiError('too_large', { bytes: sizes.files, max: aiFileBytesMax })
  }
  return body
}

/** Fields with base64 of pictures and files, in all three APIs. */
const fileFields = new Set(['data', 'file_data', 'b64_json'])
const base64Bytes = (text: string): number => Math.floor((text.length * 3) / 4)

/** Fields that name what is elsewhere. An address would carry data out of the page. */
const remoteFields = new Set(['url', 'image_url', 'file_url', 'fileUri', 'file_uri'])
const storedFields = new Set(['file_id', 'fileId'])

/**
 * Adds up the bytes of the texts of a body, and those of its files, which are base64. Throws
 * `bad_request` for addresses of files, and for files of the account that pays.
 */
function measure(value: unknown, field: string, sizes: { text: number; files: number }): void {
  if (typeof value === 'string') {
    const isRemote = remoteFields.has(field) && !value.startsWith('data:')
    if (isRemote || storedFields.has(field)) {
      rejectRequest(`Send the file itself, as base64 or a "data:" address.`, field)
    }
    const isFile = fileFields.has(field) || value.startsWith('data:')
    if (isFile) sizes.files += base64Bytes(value)
    else sizes.text += Buffer.byteLength(value)
  } else if (typeof value === 'object' && value !== null) {
    for (const [name, part] of Object.entries(value)) measure(part, name, sizes)
  }
}

/** Reads a recording with its fields, and sets its model. Returns a function that sends them. */
async function readForm(ctx: AppContext, request: Request): Promise<() => Request> {
  const bytes = await readBodyBytes(request, aiFileBytesMax + aiTextBytesMax)
  const headers = { 'content-type': request.headers.get('content-type') ?? '' }
  const sent = await new Response(bytes, { headers }).formData().catch(() => undefined)
  const file = sent?.get('file')
  if (!sent || !(file instanceof Blob)) {
    rejectRequest('The body must be multipart form data with a file.')
  }
  const body = new FormData()
  for (const name of ['language', 'prompt', 'response_format', 'temperature']) {
    const value = sent.get(name)
    if (typeof value === 'string') body.append(name, value)
  }
  body.append('file', file, 'name' in file ? String(file.name) : 'recording')
  body.append('model', appModel(ctx, 'transcription', String(sent.get('model') ?? '')).id)
  return () => new Request(request.url, { method: 'POST', body, signal: request.signal })
}

/** The header with the name of an error, which the shell reads in every format of errors. */
const codeHeader = 'x-service-code'

/**
 * Messages of errors whose own would tell a page what the payer has. Their status is one that no
 * client of these APIs repeats.
 */
const discreet: Partial<Record<ErrorName, [status: number, message: string]>> = {
  not_signed_in: [403, 'Nobody is signed in who could pay for this. Ask the player to sign in.'],
  not_granted: [403, 'The player has not agreed that this app may use models.'],
  not_enough_credits: [402, 'There are too few credits for this call.'],
  daily_cap: [403, 'The cap for today is too low for this call. Try it tomorrow.'],
  budget_exceeded: [403, 'The cap for today is too low for this call. Try it tomorrow.'],
  no_model: [404, 'This server has no model for this. Its operator can set one.'],
}

function replyTo(error: unknown): ErrorReply {
  if (error instanceof StoredError) return repeatedError(error)
  if (!(error instanceof ApiError)) throw error
  const code: ErrorName = error.errorName
  const known = isGatewayError(error) ? errorEnvelope(error) : undefined
  const other = known ? undefined : hosting.describeError(error)
  const [status = known?.status ?? other?.status, message = other?.message] = discreet[code] ?? []
  if (status === undefined) throw error
  const { error: own } = known?.body ?? { error: { type: 'invalid_request_error', param: null } }
  const body = { error: { message, ...own, ...(discreet[code] && { message }), code } }
  return { status, headers: { [codeHeader]: code }, body }
}

/**
 * Calls a model for an app: an operation of the gateway in the API of the page, paid by the one who
 * agreed to it. Returns errors in the form of that API.
 */
export async function callModel(
  ctx: AppContext,
  request: Request,
  { id, path }: { id: string; path: string },
  identify = getVisitor,
): Promise<Response> {
  const { id: requestId } = getRequestContext(request)
  const innerPath = `/${path}`
  const respond = async (): Promise<Response> => {
    const visitor = await identify(ctx, senderOf(request))
    const app = await getPlayable(ctx, id, senderOf(request))
    const payBy = await findPayer(ctx, app, visitor)
    const { work, route, params, source } = await readModelRequest(ctx, request, path)
    const { searchParams } = new URL(request.url)
    const alt = searchParams.get('alt')
    const operation = await getOperation('POST', route)
    countPaidCall(ctx, request)
    const outcome = await payBy((payer) => {
      const measured =
        work === 'chat' ? { ...payer, onServed: measureTurn(ctx, app.id, payer) } : payer
      const call = { params, source: source(), query: alt === null ? {} : { alt } }
      return performPaid(ctx, request, measured, operation, call)
    })
    return toResponse(ctx, request, outcome)
  }
  const response = await respond().catch((error: unknown) =>
    errorResponse(inOwnEnvelope(innerPath, replyTo(error), requestId)),
  )
  response.headers.set('cache-control', 'no-store')
  setRequestId(innerPath, response, requestId)
  return response
}

const modelPath = '/a/:id/ai/*'

/** The calls of models by the pages of apps, which their shells send (public/bridge). */
export const aiRoutes = (ctx: AppContext) =>
  new Elysia({ name: 'ai' }).post(
    modelPath,
    ({ request, params }) => callModel(ctx, request, { id: params.id, path: params['*'] }),
    {
      // The model has its own deadline.
      transform: ({ request }) => {
        getRequestContext(request).hasOwnDeadline = true
      },
      // The body is read here, within its own bounds.
      parse: 'none',
    },
  )
