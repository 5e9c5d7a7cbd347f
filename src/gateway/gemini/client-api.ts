import { Type } from '@sinclair/typebox'

import { asString, type Json, namedObject, recordOf } from '../../kernel/schema.ts'
import type { ClientApi } from '../client-api.ts'

/** Google's Gemini API. */
export const gemini: ClientApi = {
  prefix: '/v1beta',
  starts: [
    // A preview of the API, whose operations are the same.
    /^\/v1alpha(?=\/|$)/,
    // Methods of models, which newer clients call below /v1.
    /^\/v1(?=\/.+:(?:\w+Content|batchEmbedContents|countTokens)$)/,
  ],
  shared: {
    start: /^(\/v1)?(?=\/models(\/|$))/,
    isSender: (headers) => headers.has('x-goog-api-key') || headers.has('x-goog-api-client'),
  },
  toError: toGeminiError,
}

/** Google's status names (google.rpc.Code) by status; 400 is the default. */
const names: Record<number, string> = {
  401: 'UNAUTHENTICATED',
  402: 'FAILED_PRECONDITION',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  405: 'UNIMPLEMENTED',
  409: 'ABORTED',
  429: 'RESOURCE_EXHAUSTED',
  500: 'INTERNAL',
  502: 'UNAVAILABLE',
  503: 'UNAVAILABLE',
  504: 'DEADLINE_EXCEEDED',
}

/**
 * Converts an error of this gateway to that of Gemini. The reason in `details` is the code of
 * document 2, section 7, or Google's status name for an error without one.
 */
export function toGeminiError(body: Json, status: number): Json {
  const { message = body.message, code, param } = recordOf(body.error)
  const name = names[status] ?? 'INVALID_ARGUMENT'
  const hasField = typeof param === 'string'
  const detail = {
    '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
    reason: typeof code === 'string' ? code : name,
    metadata: hasField ? { field: param } : {},
  }
  return {
    error: {
      code: status,
      message: asString(message),
      status: name,
      ...((typeof code === 'string' || hasField) && { details: [detail] }),
    },
  }
}

export const GeminiErrorSchema = namedObject('GeminiError', {
  error: Type.Object({
    code: Type.Integer({ description: 'The status.' }),
    message: Type.String({ description: 'The reason, and what to do next.' }),
    status: Type.String(),
    details: Type.Optional(Type.Array(Type.Record(Type.String(), Type.Unknown()))),
  }),
})
