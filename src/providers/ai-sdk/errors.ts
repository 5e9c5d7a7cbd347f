import { APICallError, InvalidResponseDataError, NoSuchModelError } from '@ai-sdk/provider'

import { isRecord } from '../../core/schema.ts'
import { errorResponse } from '../response.ts'
import { classifyNetworkError, UpstreamError } from '../upstream.ts'
import type { AiSdkUpstream, ProviderFetch } from './provider-fetch.ts'

const messageCharsMax = 2_000
const causesMax = 5

/** What providers say with another status than OpenAI does. */
const meanings: [RegExp, number][] = [
  [/API_KEY_INVALID|api key not valid|invalid_api_key/i, 401],
  [/credit balance is too low|billing_error|exhausted balance|insufficient credit/i, 402],
]
const declined = /content[_ -]?(policy|filter)|moderation|nsfw|flagged as sensitive/i

/**
 * What a failed request makes of its answer: the refusal of the provider, in OpenAI's shape; else
 * it throws an UpstreamFault. What failed before anything was sent is the request's own fault.
 */
export function toErrorResponse(
  error: unknown,
  to: AiSdkUpstream,
  wire: ProviderFetch,
  signal: AbortSignal,
): Response {
  if (signal.aborted) throw new UpstreamError(classifyNetworkError(error, signal), to.name)
  const fault = causesOf(error).find((cause) => cause instanceof UpstreamError)
  const isLate = wire.answers > 0 && fault && ['reset', 'refused'].includes(fault.kind)
  if (fault) throw isLate ? new UpstreamError('unreadable', to.name) : fault
  const status = statusOf(error)
  if (status !== undefined && wire.answers === 1) return refusalOf(error, status, to)
  if (isFailedJob(error)) return refusalOf(error, 502, to)
  if (wire.answers > 0) throw new UpstreamError('unreadable', to.name)
  if (NoSuchModelError.isInstance(error)) return errorResponse(404, 'There is no such model here.')
  return errorResponse(400, clean(messageOf(error), to))
}

const causesOf = (error: unknown): unknown[] => {
  const causes = [error]
  for (let cause = error; causes.length < causesMax && cause instanceof Error;) {
    cause = cause.cause
    causes.push(cause)
  }
  return causes
}

/** The status of an answer that is no success. */
function statusOf(error: unknown): number | undefined {
  if (!APICallError.isInstance(error)) return undefined
  const { statusCode = 0 } = error
  return statusCode >= 400 ? statusCode : undefined
}

/** A job that ended without a result, which is not billed. */
const isFailedJob = (error: unknown): boolean =>
  InvalidResponseDataError.isInstance(error) &&
  isRecord(error.data) &&
  ['failed', 'canceled'].includes(String(error.data.status))

function refusalOf(error: unknown, said: number, to: AiSdkUpstream): Response {
  const call = APICallError.isInstance(error) ? error : undefined
  const text = `${call?.responseBody ?? ''} ${messageOf(error)}`
  const status = (said < 500 && meanings.find(([pattern]) => pattern.test(text))?.[1]) || said
  const isDeclined = (said < 500 || !call) && declined.test(text)
  const wait = call?.responseHeaders?.['retry-after'] ?? /"retryDelay":\s*"(\d+)/.exec(text)?.[1]
  return errorResponse(isDeclined ? 400 : status, clean(messageOf(error), to), {
    code: isDeclined ? 'content_policy_violation' : null,
    headers: wait ? { 'retry-after': wait } : {},
  })
}

/** An error within a stream, for its error event: its status says whose fault it is. */
export function toErrorEvent(error: Record<string, unknown>, to: AiSdkUpstream) {
  const { statusCode, message } = error
  const status = typeof statusCode === 'number' ? statusCode : 502
  const code = declined.test(JSON.stringify(error)) ? 'content_policy_violation' : null
  return { message: clean(String(message), to), type: 'api_error', param: null, code, status }
}

const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message : 'It failed.'

const clean = (text: string, { apiKey }: AiSdkUpstream): string =>
  (apiKey ? text.replaceAll(apiKey, '[key]') : text).slice(0, messageCharsMax)
