import { asString, lookUp, parseRecord, recordOf } from '../../kernel/schema.ts'
import type { UpstreamCodec } from '../conversation/codec.ts'
import { toRejection } from './ai-sdk/errors.ts'
import type { TypedUpstream } from './ai-sdk/provider-fetch.ts'
import type { Rejected } from './error-body.ts'
import { readErrorText, receiveResponse, type SentChat, type UpstreamChat } from './upstream.ts'

/** The headers with the API key, by kind of upstream. */
const keyHeaders: Record<string, (key: string) => Record<string, string>> = {
  anthropic: (key) => ({ 'x-api-key': key }),
  google: (key) => ({ 'x-goog-api-key': key }),
  cohere: (key) => ({ authorization: `Bearer ${key}` }),
}

/**
 * Sends a chat to an upstream in the API of its codec. Throws UpstreamError when there was no
 * response.
 */
export async function sendEncoded(
  upstream: TypedUpstream,
  codec: UpstreamCodec,
  { request, signal, ...target }: UpstreamChat,
): Promise<SentChat> {
  const { name, kind, baseUrl, apiKey, client } = upstream
  const { path, body, headers } = codec.encode(request, target)
  const sent = client.fetch(baseUrl + path, {
    method: 'POST',
    headers: {
      ...headers,
      'content-type': 'application/json',
      'accept-encoding': 'identity',
      ...(apiKey && lookUp(keyHeaders, kind)?.(apiKey)),
    },
    body: JSON.stringify(body),
    signal,
  })
  const response = await receiveResponse(sent, name, signal)
  if (!response.ok) return rejectionOf(upstream, signal, response)
  return { response, codec, ignored: codec.ignoredFields(request) }
}

async function rejectionOf(
  upstream: TypedUpstream,
  signal: AbortSignal,
  response: Response,
): Promise<Rejected> {
  const text = await readErrorText(response, upstream.name, signal)
  const body = recordOf(parseRecord(text))
  const message = asString(recordOf(body.error).message ?? body.message) || 'The request failed.'
  const wait = response.headers.get('retry-after') ?? undefined
  return toRejection({ status: response.status, text, message, wait }, upstream)
}
