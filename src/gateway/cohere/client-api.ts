import { Type } from '@sinclair/typebox'

import { asString, type Json, namedObject, recordOf } from '../../kernel/schema.ts'
import type { ClientApi } from '../client-api.ts'

const toError = (body: Json, _: number, requestId: string): Json => toCohereError(body, requestId)

/** Cohere's API. */
export const cohere: ClientApi = {
  prefix: '/v2',
  shared: {
    start: /^(\/v1)?(?=\/models(\/|$))/,
    isSender: (headers) => /^cohere(-ai)?$/.test(headers.get('x-fern-sdk-name') ?? ''),
  },
  toError,
}

/** The paths that only the first version of Cohere's API has. */
export const cohereV1: ClientApi = {
  prefix: '/cohere/v1',
  publicPrefix: '/v1',
  starts: [/^\/v1(?=\/embed$)/],
  toError,
}

/**
 * Converts an error of this gateway to that of Cohere. `code` and `param` are those of document 2,
 * section 7.
 */
export function toCohereError(body: Json, id: string): Json {
  const { message = body.message, code, param } = recordOf(body.error)
  return {
    id,
    message: asString(message),
    ...(typeof code === 'string' && { code }),
    ...(typeof param === 'string' && { param }),
  }
}

export const CohereErrorSchema = namedObject('CohereError', {
  id: Type.String({ description: 'The id of the request.' }),
  message: Type.String({ description: 'The reason, and what to do next.' }),
  code: Type.Optional(Type.String()),
  param: Type.Optional(Type.String()),
})
