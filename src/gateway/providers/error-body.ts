import { parseRecord, recordOf } from '../../kernel/schema.ts'

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
 * Parses the reason in an error body. Clients act on it: coding agents shorten a prompt that is too
 * long, and a developer removes the parameter that the message names.
 */
export function parseErrorReason(body: string): ErrorReason {
  const message = findMessage(body)?.replace(/\s+/g, ' ').trim().slice(0, charsMax).toWellFormed()
  const { code, type } = recordOf(parseRecord(body)?.error)
  const isTooLong = includesAny(tooLongCodes, [code, type])
  return {
    ...(message && { reason: message }),
    ...(isTooLong && { code: 'context_length_exceeded' }),
  }
}

/** Returns whether an error body reports a violation of the upstream's content rules. */
export function isContentFilterError(body: string): boolean {
  const error = recordOf(parseRecord(body)?.error)
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
function findMessage(body: string): string | undefined {
  const { error, message, detail } = parseRecord(body) ?? {}
  const { message: own, metadata } = recordOf(error)
  const { raw } = recordOf(metadata)
  if (typeof raw === 'string' && raw) return findMessage(raw) ?? raw
  return [own, error, message, detail].find((text) => typeof text === 'string')
}
