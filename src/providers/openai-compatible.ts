import { download } from './download.ts'
import { HttpClient } from './http-client.ts'
import { ignoredFields } from './ignored-fields.ts'
import { mayBeNonStreaming, toEventStream } from './non-streaming.ts'
import { buildRequestBody, type Dialect } from './request-body.ts'
import { requestFieldsOf } from './request-fields.ts'
import { readStart } from './response.ts'
import { createResponsesSender } from './responses-sender.ts'
import { connectRealtime } from './upstream-socket.ts'
import {
  receiveResponse,
  throwUpstreamError,
  type Upstream,
  type UpstreamAddress,
  type UpstreamCall,
} from './upstream.ts'

/** An upstream with OpenAI's HTTP API. */
export type OpenAiUpstream = UpstreamAddress &
  Dialect & {
    /** Further request fields that cost nothing at this upstream. */
    freeFields?: string[]
    /** It has the Responses API. Default: only OpenAI. */
    responses?: boolean
  }

type Target = Pick<UpstreamCall, 'signal'> & { path: string }

/** Bytes of an error response that are read. */
const errorBytesMax = 65_536

/**
 * Creates the adapter for OpenAI-compatible upstreams. It passes the fields of request-fields.ts
 * and responses unchanged, except for a non-streaming response to a streaming request. It does not
 * follow redirects, which would leak the key, and removes the key from error bodies.
 */
export function createOpenAiAdapter(row: OpenAiUpstream): Upstream {
  const upstream = { ...row, client: new HttpClient() }
  const dialect = { ...row, requestFields: requestFieldsOf(row.baseUrl, row.freeFields) }
  const sendNative = createResponsesSender((target, body) => request(upstream, target, body))
  const hasResponses = row.responses ?? isOpenAi(row.baseUrl)
  return {
    name: row.name,
    kind: 'openai',
    ...(hasResponses && { nativeApi: 'responses' }),
    async send(call) {
      if (call.native) return sendNative(call, call.native)
      const response = await request(upstream, call, buildRequestBody(call, dialect))
      return mayBeNonStreaming(response, call) ? toEventStream(response) : response
    },
    ignoredFields: ({ path, body }) =>
      ignoredFields(body, (name) => dialect.requestFields[path].has(name)),
    poll: (target) => request(upstream, target),
    connect: (target) => connectRealtime(upstream, target),
    download: (target) => download(upstream, target),
  }
}

const isOpenAi = (baseUrl: string): boolean =>
  /(^|\.)openai\.com$/.test(URL.parse(baseUrl)?.hostname ?? '')

async function request(
  upstream: OpenAiUpstream & { client: HttpClient },
  target: Target,
  body?: string | FormData,
): Promise<Response> {
  const { name, baseUrl, apiKey, client } = upstream
  const { path, signal } = target
  const headers: Record<string, string> = { 'accept-encoding': 'identity' }
  if (apiKey) headers.authorization = `Bearer ${apiKey}`
  if (typeof body === 'string') headers['content-type'] = 'application/json'
  const method = body === undefined ? 'GET' : 'POST'
  const init = { method, headers, signal, ...(body && { body }) }
  const response = await receiveResponse(client.fetch(baseUrl + path, init), name, signal)
  return response.ok ? response : withoutKey(upstream, target, response)
}

async function withoutKey(
  { name, apiKey }: OpenAiUpstream,
  { signal }: Target,
  response: Response,
): Promise<Response> {
  const { text } = await readStart(response, errorBytesMax).catch(throwUpstreamError(name, signal))
  const headers = new Headers(response.headers)
  for (const name of ['content-length', 'content-encoding', 'transfer-encoding', 'set-cookie']) {
    headers.delete(name)
  }
  // The Response constructor throws for a status outside HTTP's range.
  const isValid = response.status >= 400 && response.status < 600
  const body = apiKey ? text.replaceAll(apiKey, '[key]') : text
  return new Response(body, { status: isValid ? response.status : 599, headers })
}
