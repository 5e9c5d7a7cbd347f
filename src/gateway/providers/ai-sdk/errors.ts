import { APICallError, InvalidResponseDataError, NoSuchModelError } from '@ai-sdk/provider'

import { classifyNetworkError } from '../../../kernel/fetch.ts'
import { isRecord, type Json } from '../../../kernel/schema.ts'
import {
  parseRetryAfter,
  reject,
  type Rejected,
  reportsContentRules,
  toStreamError,
} from '../error-body.ts'
import { UpstreamError } from '../upstream.ts'
import type { AiSdkUpstream, ProviderFetch } from './provider-fetch.ts'

const messageCharsMax = 2_000
const causesMax = 5

/** Errors for which providers use another status than OpenAI. */
const openAiStatuses: [RegExp, number][] = [
  [/API_KEY_INVALID|api key not valid|invalid_api_key/i, 401],
  [/credit balance is too low|billing_error|exhausted balance|insufficient credit/i, 402],
]

/**
 * Converts an error of a provider package to a rejection. An error before the first request is the
 * client's. Throws UpstreamError when there was no response.
 */
export function rejectionOf(
  error: unknown,
  upstream: AiSdkUpstream,
  network: ProviderFetch,
  signal: AbortSignal,
): Rejected {
  const { name } = upstream
  if (signal.aborted) throw new UpstreamError(classifyNetworkError(error, signal), name)
  const cause = causesOf(error).find((one) => one instanceof UpstreamError)
  const isLate = network.responses > 0 && cause && ['reset', 'refused'].includes(cause.kind)
  if (cause) throw isLate ? new UpstreamError('unreadable', name) : cause
  const status = errorStatusOf(error)
  if (status !== undefined && network.responses === 1) {
    return ofProvider(error, status, upstream)
  }
  if (isFailedJob(error)) return ofProvider(error, 502, upstream)
  if (network.responses > 0) throw new UpstreamError('unreadable', name)
  if (NoSuchModelError.isInstance(error)) return reject(404, 'No such model.')
  return reject(400, withoutKey(messageOf(error), upstream))
}

function causesOf(error: unknown): unknown[] {
  const causes = [error]
  for (let cause = error; causes.length < causesMax && cause instanceof Error;) {
    cause = cause.cause
    causes.push(cause)
  }
  return causes
}

function errorStatusOf(error: unknown): number | undefined {
  if (!APICallError.isInstance(error)) return undefined
  const { statusCode = 0 } = error
  return statusCode >= 400 ? statusCode : undefined
}

/** Returns whether a job ended without a result. The provider does not bill it. */
const isFailedJob = (error: unknown): boolean =>
  InvalidResponseDataError.isInstance(error) &&
  isRecord(error.data) &&
  ['failed', 'canceled'].includes(String(error.data.status))

function ofProvider(error: unknown, sent: number, upstream: AiSdkUpstream): Rejected {
  const call = APICallError.isInstance(error) ? error : undefined
  const message = messageOf(error)
  const text = `${call?.responseBody ?? ''} ${message}`
  const wait = call?.responseHeaders?.['retry-after']
  return toRejection({ status: sent, text, message, wait, isJob: !call }, upstream)
}

interface ProviderError {
  status: number
  /** All that the provider said. */
  text: string
  message: string
  /** The header Retry-After. */
  wait: string | undefined
  /** True for a job that failed after the provider accepted it. */
  isJob?: boolean
}

/** Converts an error of a provider to a rejection as OpenAI has it, without the key. */
export function toRejection(
  { status: sent, text, message, wait: after, isJob = false }: ProviderError,
  upstream: AiSdkUpstream,
): Rejected {
  const wait = after ?? /"retryDelay":\s*"(\d+)/.exec(text)?.[1]
  const status = (sent < 500 && openAiStatuses.find(([pattern]) => pattern.test(text))?.[1]) || sent
  const isFiltered = (sent < 500 || isJob) && reportsContentRules(text)
  return reject(isFiltered ? 400 : status, withoutKey(message, upstream), {
    code: isFiltered ? 'content_policy_violation' : null,
    retryAfter: parseRetryAfter(wait),
  })
}

/** Converts an error within a stream to an error event, with the provider's status. */
export function toErrorEvent(error: Json, upstream: AiSdkUpstream) {
  const { statusCode, message } = error
  return toStreamError({
    message: withoutKey(String(message), upstream),
    text: JSON.stringify(error),
    status: typeof statusCode === 'number' ? statusCode : 502,
  })
}

const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message : 'The request failed.'

const withoutKey = (text: string, { apiKey }: AiSdkUpstream): string =>
  (apiKey ? text.replaceAll(apiKey, '[key]') : text).slice(0, messageCharsMax)
