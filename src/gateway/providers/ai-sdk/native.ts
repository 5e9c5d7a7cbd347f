import type { AiSdkKind } from '../../../kernel/config/providers.ts'
import { lookUp, recordOf } from '../../../kernel/schema.ts'
import { outputTokenLimit } from '../request-body.ts'
import { asString, parseRecord, readStart } from '../response.ts'
import {
  type NativeRequest,
  receiveResponse,
  throwUpstreamError,
  type UpstreamCall,
} from '../upstream.ts'
import { toOpenAiError } from './errors.ts'
import type { AiSdkUpstream, TypedUpstream } from './provider-fetch.ts'

/** Bytes of an error response that are read. */
const errorBytesMax = 65_536

/** The headers with the API key, of the kinds that get native requests. */
const keyHeaders: Partial<Record<AiSdkKind, (key: string) => Record<string, string>>> = {
  anthropic: (key) => ({ 'x-api-key': key }),
  google: (key) => ({ 'x-goog-api-key': key }),
  cohere: (key) => ({ authorization: `Bearer ${key}` }),
}

/**
 * Sends a request in the provider's own format and returns its response unchanged. Errors become
 * those of OpenAI. Throws UpstreamError when there was no response.
 */
export async function sendNative(
  upstream: TypedUpstream,
  call: UpstreamCall,
  native: NativeRequest,
): Promise<Response> {
  const { name, kind, baseUrl, apiKey, client } = upstream
  const { signal, model } = call
  const { path, body } = native.build(model, outputTokenLimit(call))
  const sent = client.fetch(baseUrl + path, {
    method: 'POST',
    headers: {
      ...native.headers,
      'content-type': 'application/json',
      'accept-encoding': 'identity',
      ...(apiKey && lookUp(keyHeaders, kind)?.(apiKey)),
    },
    body: JSON.stringify(body),
    signal,
  })
  const response = await receiveResponse(sent, name, signal)
  return response.ok ? response : nativeError(upstream, signal, response)
}

async function nativeError(
  upstream: AiSdkUpstream,
  signal: AbortSignal,
  response: Response,
): Promise<Response> {
  const { text } = await readStart(response, errorBytesMax).catch(
    throwUpstreamError(upstream.name, signal),
  )
  const body = recordOf(parseRecord(text))
  const message = asString(recordOf(body.error).message ?? body.message) || 'The request failed.'
  const wait = response.headers.get('retry-after') ?? undefined
  return toOpenAiError({ status: response.status, text, message, wait }, upstream)
}
