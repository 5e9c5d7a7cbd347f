import { type Json, parseRecord, recordOf } from '../../kernel/schema.ts'
import { systemClock } from '../../kernel/time.ts'

/** An error response of an upstream, without the operator's key. */
export interface UpstreamRejection {
  status: number
  /** Its body, in the form of any upstream. */
  body: Json
  /** Seconds of the header Retry-After. */
  retryAfter?: number | undefined
}

export interface Rejected {
  rejected: UpstreamRejection
}

/** Creates the rejection of an upstream in this process, or in another form than OpenAI's. */
export const reject = (
  status: number,
  message: string,
  { code = null, retryAfter }: { code?: string | null; retryAfter?: number | undefined } = {},
): Rejected => {
  const error = { message, type: 'invalid_request_error', param: null, code }
  return { rejected: { status, body: { error }, retryAfter } }
}

const retryAfterMax = 3_600

/** Parses the header Retry-After, in either of its forms (RFC 9110, 10.2.3), to seconds. */
export function parseRetryAfter(header: string | null | undefined): number | undefined {
  const text = header ?? ''
  const seconds = Math.ceil(Number(text || NaN) || (Date.parse(text) - systemClock.now()) / 1_000)
  return seconds > 0 ? Math.min(seconds, retryAfterMax) : undefined
}

/** An upstream's reason for rejecting a request, safe to pass to the client. */
export interface ErrorReason {
  reason?: string
  code?: 'context_length_exceeded'
}

const charsMax = 500
/** Codes for a prompt that is too long, from OpenAI, compatible servers and llama.cpp. */
const tooLongCodes = ['context_length_exceeded', 'exceed_context_size_error']
/** Codes of upstreams for a request that their content rules forbid. */
const filterCodes = [
  'content_filter',
  'content_policy_violation',
  'content_policy',
  'moderation_blocked',
  'ResponsibleAIPolicyViolation',
]

/**
 * Returns the reason in an error body. Clients act on it: coding agents shorten a prompt that is
 * too long, and a developer removes the parameter that the message names.
 */
export function reasonOf(body: Json): ErrorReason {
  const message = findMessage(body)?.replace(/\s+/g, ' ').trim().slice(0, charsMax).toWellFormed()
  const { code, type } = recordOf(body.error)
  const isTooLong = includesAny(tooLongCodes, [code, type])
  return {
    ...(message && { reason: message }),
    ...(isTooLong && { code: 'context_length_exceeded' }),
  }
}

/** Returns whether an error body reports a violation of the upstream's content rules. */
export function isContentFilterError(body: Json): boolean {
  const error = recordOf(body.error)
  return includesAny(filterCodes, [error.code, error.type, recordOf(error.innererror).code])
}

const contentRules = /content[_ -]?(policy|filter)|moderation|nsfw|flagged as sensitive/i

/** Returns whether the words of a provider report a violation of its content rules. */
export const reportsContentRules = (text: string): boolean => contentRules.test(text)

/** An error that a provider reports within a response. */
interface StreamError {
  message: string
  /** All that the provider said. */
  text: string
  type?: string
  code?: unknown
  status: number
}

/** Returns an error within a response in OpenAI's format, with a status. */
export const toStreamError = ({
  message,
  text,
  type = 'api_error',
  code,
  status,
}: StreamError) => ({
  message,
  type,
  param: null,
  code: reportsContentRules(text) ? 'content_policy_violation' : (code ?? null),
  status,
})

/** Request Timeout and Too Early (RFC 9110, RFC 8470): the client may repeat the request. */
const retryableStatuses = [408, 425]

/** Returns whether a failure with this status may pass by itself. */
export const isTransientStatus = (status: number): boolean =>
  status === 429 || status >= 500 || retryableStatuses.includes(status)

const includesAny = (codes: string[], values: unknown[]): boolean =>
  values.some((value) => typeof value === 'string' && codes.includes(value))

/** Finds the message as OpenAI, Ollama, Mistral and FastAPI send it; OpenRouter wraps another's. */
function findMessage({ error, message, detail }: Json): string | undefined {
  const { message: own, metadata } = recordOf(error)
  const { raw } = recordOf(metadata)
  if (typeof raw === 'string' && raw) return findMessage(parseRecord(raw) ?? {}) ?? raw
  return [own, error, message, detail].find((text) => typeof text === 'string')
}
