import { isRecord } from '../../core/schema.ts'
import { outputTokenLimit } from '../request-body.ts'
import { asString, parseRecord, readStart } from '../response.ts'
import {
  classifyNetworkError,
  type NativeRequest,
  type UpstreamCall,
  UpstreamError,
} from '../upstream.ts'
import { toOpenAiError } from './errors.ts'
import type { AiSdkUpstream } from './provider-fetch.ts'
import type { ProviderKind } from './provider-kinds.ts'

/** Bytes of an error response that are read. */
const errorBytesMax = 65_536

/**
 * Sends a request in the provider's own format and returns its response unchanged. Errors become
 * those of OpenAI. Throws UpstreamError when there was no response.
 */
export async function sendNative(
  upstream: AiSdkUpstream,
  kind: ProviderKind,
  call: UpstreamCall,
  { path, body: own, headers }: NativeRequest,
): Promise<Response> {
  const { name, baseUrl, apiKey, client } = upstream
  const { signal, model } = call
  const { thinking } = own
  // The adjustment below changes both objects.
  const body = { ...own, model, ...(isRecord(thinking) && { thinking: { ...thinking } }) }
  const limit = outputTokenLimit(call)
  if (limit !== undefined) kind.adjustBody?.(body, limit)
  const response = await client
    .fetch(baseUrl + path, {
      method: 'POST',
      headers: {
        ...headers,
        'content-type': 'application/json',
        'accept-encoding': 'identity',
        ...(apiKey && { 'x-api-key': apiKey }),
      },
      body: JSON.stringify(body),
      signal,
    })
    .catch((error: unknown) => {
      throw new UpstreamError(classifyNetworkError(error, signal), name)
    })
  if (response.status >= 300 && response.status < 400) {
    await response.body?.cancel()
    throw new UpstreamError('redirect', name)
  }
  return response.ok ? response : nativeError(upstream, signal, response)
}

async function nativeError(
  upstream: AiSdkUpstream,
  signal: AbortSignal,
  response: Response,
): Promise<Response> {
  const { text } = await readStart(response, errorBytesMax).catch((error: unknown) => {
    throw new UpstreamError(classifyNetworkError(error, signal), upstream.name)
  })
  const error = parseRecord(text)?.error
  const message = isRecord(error) ? asString(error.message) : 'The request failed.'
  const wait = response.headers.get('retry-after') ?? undefined
  return toOpenAiError({ status: response.status, text, message, wait }, upstream)
}
