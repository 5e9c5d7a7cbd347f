import { Type } from '@sinclair/typebox'

import { asString, type Json, namedObject, nullable, recordOf } from '../../kernel/schema.ts'
import type { ClientApi } from '../client-api.ts'

/** Anthropic's API. Its messages have a path of their own, its models and files share theirs. */
export const anthropic: ClientApi = {
  prefix: '/anthropic',
  publicPrefix: '/v1',
  shared: {
    start: /^(\/v1)?(?=\/(models|files)(\/|$))/,
    isSender: (headers) => headers.has('anthropic-version'),
  },
  isOwnPath: (path) => /^(\/v1)?\/messages(\/|$)/.test(path),
  toError: toAnthropicError,
  statusOf: (status, body) => (recordOf(body.error).code === contextExceeded ? 400 : status),
  requestIdHeader: 'request-id',
}

/** Anthropic's error types by status; 400 is the default. */
const types: Record<number, string> = {
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  409: 'conflict_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  500: 'api_error',
  502: 'api_error',
  503: 'overloaded_error',
  504: 'timeout_error',
}

const contextExceeded = 'context_length_exceeded'
/** The code with which Anthropic's client goes on without a conversation on the server. */
export const threadUnsupported = 'thread_unsupported_request'

/**
 * Converts an error of this gateway to Anthropic's envelope. `details.error_code` has the code of
 * document 2, section 7.
 */
export function toAnthropicError(body: Json, status: number, requestId: string): Json {
  const { message = body.message, code, param, type } = recordOf(body.error)
  const isInvalid = type === 'invalid_request_error' && status >= 500
  const details = {
    ...(typeof code === 'string' && { error_code: code }),
    ...(typeof param === 'string' && { param }),
    ...(code === threadUnsupported && { unsupported: [param] }),
  }
  return {
    type: 'error',
    error: {
      // An event of a stream has no status of its own.
      type: (isInvalid ? undefined : types[status]) ?? 'invalid_request_error',
      // Agents recognize these words, and shorten the conversation.
      message: `${code === contextExceeded ? 'prompt is too long: ' : ''}${asString(message)}`,
      ...(Object.keys(details).length > 0 && { details }),
    },
    request_id: requestId,
  }
}

export const AnthropicErrorSchema = namedObject('AnthropicError', {
  type: Type.Literal('error'),
  error: Type.Object({
    type: Type.String(),
    message: Type.String({ description: 'The reason, and what to do next.' }),
    details: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  }),
  request_id: nullable(Type.String()),
})
