import { classifyNetworkError } from '../../kernel/fetch.ts'
import { asString, recordOf, recordsIn } from '../../kernel/schema.ts'
import { second } from '../../kernel/time.ts'
import type { ChatRequest, Message } from '../conversation/chat-request.ts'
import type { UpstreamCodec } from '../conversation/codec.ts'
import { mediaIn } from '../conversation/contents.ts'
import { withUniqueCalls } from '../conversation/tools.ts'
import { type ChatDialect, createChatCodec } from '../openai-chat/encode.ts'
import { familyOf } from '../openai-chat/families.ts'
import { responsesCodec } from '../responses/encode.ts'
import type { Rejected, UpstreamRejection } from './error-body.ts'
import { download, HttpClient } from './http-client.ts'
import { buildRequestBody, ignoredFields, requestFieldsOf } from './request-body.ts'
import {
  type ConnectRequest,
  readRejection,
  receiveResponse,
  type SentChat,
  type SocketListener,
  type Upstream,
  type UpstreamAddress,
  type UpstreamCall,
  type UpstreamChat,
  UpstreamError,
  type UpstreamSocket,
} from './upstream.ts'

/** An upstream with OpenAI's HTTP API. */
type OpenAiUpstream = UpstreamAddress &
  ChatDialect & {
    /** Further request fields that cost nothing at this upstream. */
    freeFields?: string[]
    /** It has the Responses API. Default: only OpenAI. */
    responses?: boolean
  }

type Target = Pick<UpstreamCall, 'signal'> & { path: string }

/**
 * Creates the adapter for OpenAI-compatible upstreams. It does not follow redirects, which would
 * leak the key, and removes the key from error bodies.
 */
export function createOpenAiAdapter(row: OpenAiUpstream): Upstream {
  const upstream = { ...row, client: new HttpClient() }
  const codec = createChatCodec({ ...row, family: familyOf(row.baseUrl, row.freeFields) })
  const hasResponses = row.responses ?? isOpenAi(row.baseUrl)
  const send: Send = (path, signal, body) => request(upstream, { path, signal }, body)
  const sendResponses = createResponsesSender(send)
  return {
    name: row.name,
    kind: 'openai',
    apis: hasResponses ? ['chat', 'responses'] : ['chat'],
    send: (call) => request(upstream, call, buildRequestBody(call, row.freeFields)),
    chat: async (call) =>
      (hasResponses && (await sendResponses(call))) || sendAs(codec, call, send),
    ignoredFields: ({ path, body }) => {
      const known = requestFieldsOf(path, row.freeFields ?? [])
      return ignoredFields(body, (name) => known.has(name))
    },
    poll: (target) => request(upstream, target),
    connect: (target) => connectRealtime(upstream, target),
    download: (target) => download(upstream, target),
  }
}

type Send = (
  path: string,
  signal: AbortSignal,
  body: string,
) => Promise<Rejected | { response: Response }>

/** Sends a chat in the API of a codec. */
async function sendAs(
  codec: UpstreamCodec,
  { request, signal, ...target }: UpstreamChat,
  send: Send,
): Promise<SentChat> {
  const { path, body } = codec.encode(request, target)
  const sent = await send(path, signal, JSON.stringify(body))
  if ('rejected' in sent) return sent
  const ignored = codec.ignoredFields(request)
  return { ...sent, codec: withUniqueCalls(codec, request), ignored }
}

/**
 * Returns whether a chat is sent to the Responses API of an upstream that has both: a request of
 * that API, and one of another that asks for reasoning or returns it. OpenAI's chat shows none.
 */
function needsResponses(request: ChatRequest): boolean {
  const { raw, messages, reasoning, choices, outputMax = Infinity } = request
  if (raw?.api === 'responses') return true
  const isReturned = ({ content }: Message): boolean =>
    content.some((part) => part.type === 'thinking' && part.origin === 'responses')
  const isThinking = reasoning !== undefined || messages.some(isReturned)
  const isPossible =
    choices === 1 &&
    outputMax >= responsesOutputMin &&
    mediaIn(messages).every(({ type }) => type !== 'video')
  return (
    raw?.api !== 'chat' &&
    isThinking &&
    isPossible &&
    responsesCodec.ignoredFields(request).length === 0
  )
}

/** OpenAI rejects a lower limit of the output there. */
const responsesOutputMin = 16

const isOpenAi = (baseUrl: string): boolean =>
  /(^|\.)openai\.com$/.test(URL.parse(baseUrl)?.hostname ?? '')

async function request(
  upstream: OpenAiUpstream & { client: HttpClient },
  target: Target,
  body?: string | FormData,
): Promise<Rejected | { response: Response }> {
  const { name, baseUrl, apiKey, client } = upstream
  const { path, signal } = target
  const headers: Record<string, string> = { 'accept-encoding': 'identity' }
  if (apiKey) headers.authorization = `Bearer ${apiKey}`
  if (typeof body === 'string') headers['content-type'] = 'application/json'
  const method = body === undefined ? 'GET' : 'POST'
  const init = { method, headers, signal, ...(body && { body }) }
  const response = await receiveResponse(client.fetch(baseUrl + path, init), name, signal)
  return response.ok ? { response } : readRejection(response, upstream, signal)
}

/**
 * Returns a function that sends requests of the Responses API. It returns undefined for a request
 * that the upstream takes only as a chat. It asks only once for a model that the upstream does not
 * have there, and for the thoughts of one that shows none.
 */
function createResponsesSender(send: Send): (call: UpstreamChat) => Promise<SentChat | undefined> {
  const missing = new Set<string>()
  const silent = new Set<string>()
  const sendIfNeeded = async (call: UpstreamChat): Promise<SentChat | undefined> => {
    const { model } = call
    const request = silent.has(model) ? withoutSummary(call.request) : call.request
    if (missing.has(model) || !needsResponses(request)) return undefined
    const sent = await sendAs(responsesCodec, { ...call, request }, send)
    if (!('rejected' in sent)) return sent
    const rejected = rejectedPart(sent.rejected, request)
    if (rejected === 'model') missing.add(model)
    if (rejected !== 'summary') return rejected ? undefined : sent
    const rest = withoutSummary(request)
    const retried = await sendIfNeeded({ ...call, request: rest })
    // Another field, or the request for logprobs, may be the cause.
    const isOnlyField = !needsResponses(rest) && request.logprobs === undefined
    if (isOnlyField || (retried && !('rejected' in retried))) silent.add(model)
    return retried
  }
  return sendIfNeeded
}

/** Returns a chat of another API that does not ask for the text of thoughts. */
function withoutSummary(chat: ChatRequest): ChatRequest {
  const { reasoning, ...request } = chat
  if (!asksForSummary(chat)) return chat
  const { summary: _, ...rest } = reasoning ?? {}
  return { ...request, ...(Object.keys(rest).length > 0 && { reasoning: rest }) }
}

const asksForSummary = ({ raw, reasoning }: ChatRequest): boolean =>
  raw?.api !== 'responses' && reasoning?.summary !== undefined

/** Statuses of a server without the Responses API, or without the model in it. */
const missingStatuses = [404, 405, 501]

/** Fields that a chat does not have. Some models, or accounts, do not support them. */
const fieldsOfResponses =
  /^(include|max_tool_calls|metadata|reasoning\.\w*(summary|context)|stream_options|truncation)\b/

/** The fields of thoughts. Models without any reject them, and so do some accounts. */
const fieldsOfSummary = /^(include|reasoning(?!\.effort))\b/

/**
 * Returns what the upstream rejects: the model, the summary of its thoughts, or only this request,
 * whose chat it may take; undefined for any other error.
 */
function rejectedPart(
  { status, body }: UpstreamRejection,
  request: ChatRequest,
): 'model' | 'summary' | 'request' | undefined {
  const { tools } = request.raw?.body ?? {}
  const { code, param } = recordOf(body.error)
  const field = asString(param)
  if (missingStatuses.includes(status)) return field.startsWith('input') ? 'request' : 'model'
  if (status !== 400) return undefined
  if (field === 'model') return 'model'
  if (asksForSummary(request) && fieldsOfSummary.test(field)) return 'summary'
  const hasTool = recordsIn(tools).some(({ type }) => type !== 'function')
  const isOfTool = field.startsWith('tools') && hasTool
  // The reasoning of another upstream, which a chat does not contain.
  const isSealed = code === 'invalid_encrypted_content'
  return isSealed || isOfTool || fieldsOfResponses.test(field) ? 'request' : undefined
}

/** Time for a handshake. */
const connectMs = 10 * second

/**
 * Opens a session at `/realtime` below the base URL of an upstream, or returns the rejection of a
 * refused handshake. Throws UpstreamError without a response.
 */
async function connectRealtime(
  { name, baseUrl, apiKey }: UpstreamAddress,
  { model, isBeta, signal }: ConnectRequest,
): Promise<UpstreamSocket | Rejected> {
  const url = new URL(`${baseUrl}/realtime`)
  url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:'
  url.searchParams.set('model', model)
  const headers: Record<string, string> = {}
  if (apiKey) headers.authorization = `Bearer ${apiKey}`
  if (isBeta) headers['openai-beta'] = 'realtime=v1'
  const socket = new WebSocket(url.href, { headers, perMessageDeflate: false })
  const own = new OwnSocket(socket, apiKey)
  const limit = AbortSignal.any([signal, AbortSignal.timeout(connectMs)])
  const status = await handshakeOf(socket, limit)
  if (status === 'open') return own
  socket.terminate()
  if (typeof status === 'number') return { rejected: { status, body: {} } }
  const kind = signal.aborted ? classifyNetworkError(signal.reason, signal) : 'refused'
  throw new UpstreamError(kind, name)
}

/** Waits for the handshake. Returns its status where it was refused. */
function handshakeOf(socket: WebSocket, signal: AbortSignal): Promise<'open' | 'failed' | number> {
  const { promise, resolve } = Promise.withResolvers<'open' | 'failed' | number>()
  socket.addEventListener('open', () => resolve('open'))
  socket.addEventListener('close', () => resolve('failed'))
  socket.addEventListener('error', (event) => {
    const message = 'message' in event ? String(event.message) : ''
    const status = Number(/status code: (\d{3})/.exec(message)?.[1])
    resolve(status >= 300 && status < 600 ? status : 'failed')
  })
  signal.addEventListener('abort', () => resolve('failed'))
  if (signal.aborted) resolve('failed')
  return promise
}

class OwnSocket implements UpstreamSocket {
  private listener: SocketListener | undefined
  private readonly early: string[] = []
  private isClosed = false

  constructor(
    private readonly socket: WebSocket,
    private readonly secret: string | undefined,
  ) {
    socket.addEventListener('message', ({ data }) => this.receive(data))
    socket.addEventListener('close', () => {
      this.isClosed = true
      this.listener?.close()
    })
  }

  get bufferedAmount(): number {
    return this.socket.bufferedAmount
  }

  send(text: string): void {
    if (!this.isClosed) this.socket.send(text)
  }

  pause(): void {
    this.socket.pause()
  }

  resume(): void {
    this.socket.resume()
  }

  close(): void {
    this.socket.resume()
    this.socket.close()
  }

  listen(listener: SocketListener): void {
    this.listener = listener
    for (const text of this.early.splice(0)) listener.message(text)
    if (this.isClosed) listener.close()
  }

  private receive(data: unknown): void {
    const text = typeof data === 'string' ? data : ''
    // An error may repeat the key of the operator.
    const safe = this.secret ? text.replaceAll(this.secret, '[key]') : text
    if (this.listener) this.listener.message(safe)
    else this.early.push(safe)
  }
}
