import { Elysia } from 'elysia'

import { inOwnEnvelope, setRequestId } from '../../gateway/client-apis.ts'
import { errorEnvelope, isGatewayError, repeatedError } from '../../gateway/error-response.ts'
import type { Model } from '../../gateway/models/catalog.ts'
import { countPaidCall, getOperation, performPaid } from '../../gateway/session-calls.ts'
import type { AppContext } from '../../kernel/context.ts'
import { ApiError, type ErrorName, rejectRequest } from '../../kernel/errors.ts'
import { readBodyBytes, readJsonBody } from '../../kernel/http/body.ts'
import { getRequestContext, senderOf } from '../../kernel/http/request-context.ts'
import { type ErrorReply, errorResponse, toResponse } from '../../kernel/http/response.ts'
import { aiBodyBytesMax, aiFileBytesMax, aiTextBytesMax } from '../../kernel/limits.ts'
import { isRecord, type Json, lookUp, recordOf } from '../../kernel/schema.ts'
import { StoredError } from '../../money/idempotency/idempotency.ts'
import * as hosting from '../../people/error-response.ts'
import { getVisitor } from '../../people/session-user.ts'
import { getPlayable } from '../audience/access.ts'
import { appModel, commonSize, prepareBody, type Work } from './prepare.ts'
import { findPayer } from './sponsors.ts'
import { measureTurn } from './turns.ts'

const routes: Record<string, Work> = {
  'v1/chat/completions': 'chat',
  'v1/messages': 'chat',
  'v1/responses': 'chat',
  'v1/images/generations': 'image',
  'v1/images/edits': 'image',
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
    const body = await readJson(request)
    const model = appModel(ctx, 'chat', name)
    prepare(ctx, { model, requested: name }, 'v1beta/models', body)
    const params = { '*': `${model.id}:${method}` }
    return { work: 'chat', route: '/models/*', params, source: () => ({ value: body }) }
  }
  const work = lookUp(routes, path)
  if (!work) throw new ApiError('not_found', { what: 'model call' })
  const route = path.slice('v1'.length)
  const form = lookUp(forms, path)
  if (form) {
    const create = await readForm(ctx, request, work, form)
    return { work, route, params: {}, source: () => ({ request: create() }) }
  }
  const body = await readJson(request)
  const requested = String(body['model'] ?? '')
  const model = appModel(ctx, work, requested)
  body['model'] = model.id
  // Responses that another app of this player caused are not this one's.
  delete body['cache']
  prepare(ctx, { model, requested }, path, body)
  return { work, route, params: {}, source: () => ({ value: body }) }
}

/** Makes the body of a page one of this server. Throws what `checkBody` throws. */
function prepare(
  { searcher }: AppContext,
  { model, requested = '' }: { model: Model; requested: string | undefined },
  path: string,
  body: Json,
): void {
  const canSearch = searcher !== undefined && model.supportsTools
  prepareBody(path, body, { model: model.id, requested, canSearch })
  checkBody(body)
}

/** Reads the body of a request. Throws `bad_request`. */
async function readJson(request: Request): Promise<Json> {
  const body = await readJsonBody(request, { max: aiBodyBytesMax })
  if (!isRecord(body)) rejectRequest('The body is a JSON object.')
  return body
}

/** Throws `too_large` for a body beyond the bounds, and what `measure` throws. */
function checkBody(body: Json): void {
  const sizes = { text: 0, files: 0 }
  measure(body, '', sizes)
  if (sizes.text > aiTextBytesMax) {
    throw new ApiError('too_large', { bytes: sizes.text, max: aiTextBytesMax })
  }
  if (sizes.files > aiFileBytesMax) {
    throw new ApiError('too_large', { bytes: sizes.files, max: aiFileBytesMax })
  }
}

/** Fields with base64 of pictures and files, in all APIs. Some take an address instead. */
const fileFields = new Set(['data', 'file_data', 'b64_json', 'image', 'images', 'image_urls'])
const base64Bytes = (text: string): number => Math.floor((text.length * 3) / 4)

/** Fields that name what is elsewhere. An address would carry data out of the page. */
const remoteFields = new Set(
  'url image_url video_url document_url input_audio file file_url fileUri file_uri'.split(' '),
)
const storedFields = new Set(['file_id', 'fileId'])

/** Fields that a model reads as text, by the type of a part: arguments, and sources of a text. */
const quotedFields: Readonly<Record<string, string>> = {
  redacted_thinking: 'data',
  tool_use: 'input',
  server_tool_use: 'input',
  web_search_result: 'url',
}

/**
 * Returns whether a model reads a field as text. `parent` is the field of its object or list, so
 * that no field of a request itself is text: several APIs have an `input` there.
 */
function isQuoted(parent: string, field: string, { type }: Json): boolean {
  if (/^function_?call$/i.test(parent)) return field === 'args'
  if (/^function_?response$/i.test(parent)) return field === 'response'
  if (/^(?:annotations|citations)$/.test(field)) return /^(?:messages|content)$/.test(parent)
  if (parent === 'source') return field === 'data' && type === 'text'
  return parent === 'content' && lookUp(quotedFields, type) === field
}

/**
 * Adds up the bytes of the texts of a body, and those of its files, which are base64. Throws
 * `bad_request` for addresses of files, and for files of the account that pays.
 */
function measure(
  value: unknown,
  field: string,
  sizes: { text: number; files: number },
  isText = false,
): void {
  if (typeof value === 'string') {
    const isAddress = remoteFields.has(field) || (fileFields.has(field) && URL.canParse(value))
    const isRemote = isAddress && !value.startsWith('data:')
    if (!isText && (isRemote || storedFields.has(field))) {
      rejectRequest(`Send the file itself, as base64 or a "data:" address.`, field)
    }
    const isFile = fileFields.has(field) || value.startsWith('data:')
    if (isFile) sizes.files += base64Bytes(value)
    else sizes.text += Buffer.byteLength(value)
  } else if (typeof value === 'object' && value !== null) {
    for (const [name, part] of Object.entries(value)) {
      if (Array.isArray(value)) measure(part, field, sizes, isText)
      else measure(part, name, sizes, isText || isQuoted(field, name, recordOf(value)))
    }
  }
}

/** The fields of a form: texts, and files. */
interface FormFields {
  texts: readonly string[]
  files: readonly string[]
}

const forms: Record<string, FormFields> = {
  'v1/audio/transcriptions': {
    texts: ['language', 'prompt', 'response_format', 'temperature'],
    files: ['file'],
  },
  'v1/images/edits': {
    texts: ['prompt', 'n', 'response_format'],
    files: ['image', 'image[]', 'mask'],
  },
}

/** Reads files with their fields, and sets their model. Returns a function that sends them. */
async function readForm(
  ctx: AppContext,
  request: Request,
  work: Work,
  { texts, files }: FormFields,
): Promise<() => Request> {
  const bytes = await readBodyBytes(request, aiFileBytesMax + aiTextBytesMax)
  const headers = { 'content-type': request.headers.get('content-type') ?? '' }
  const sent = await new Response(bytes, { headers }).formData().catch(() => undefined)
  const body = new FormData()
  let count = 0
  for (const name of files) {
    for (const file of sent?.getAll(name) ?? []) {
      if (!(file instanceof Blob)) continue
      body.append(name, file, 'name' in file ? String(file.name) : name)
      count += 1
    }
  }
  if (!sent || count === 0) {
    rejectRequest('The body must be multipart form data with a file.')
  }
  for (const name of texts) {
    const value = sent.get(name)
    if (typeof value === 'string') body.append(name, value)
  }
  body.append('model', appModel(ctx, work, String(sent.get('model') ?? '')).id)
  const { size } = commonSize(sent.get('size'))
  if (size !== undefined) body.append('size', size)
  return () => new Request(request.url, { method: 'POST', body, signal: request.signal })
}

/** The header with the name of an error, which the shell reads in every format of errors. */
const codeHeader = 'x-service-code'

/**
 * Messages of errors whose own would tell a page what the payer has, or name another limit. Their
 * status is one that no client of these APIs repeats.
 */
const discreet: Partial<Record<ErrorName, [status: number, message: string]>> = {
  not_signed_in: [403, 'Nobody is signed in who could pay for this. Ask the player to sign in.'],
  not_granted: [403, 'The player has not agreed that this app may use models.'],
  not_enough_credits: [402, 'There are too few credits for this call.'],
  daily_cap: [403, 'The cap for today is too low for this call. Try it tomorrow.'],
  budget_exceeded: [403, 'The cap for today is too low for this call. Try it tomorrow.'],
  too_large: [
    413,
    `A call has at most ${aiTextBytesMax / 1_024} KiB of text, and ${aiFileBytesMax / 1_048_576} MB of pictures and files. Send less.`,
  ],
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
