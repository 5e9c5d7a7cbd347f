import { Type } from '@sinclair/typebox'

import { asString, type Json, namedObject, recordOf } from '../../kernel/schema.ts'

/** The prefix of the paths of Cohere's API. */
export const coherePrefix = '/v2'
/** The prefix inside the server of the paths that only the first version of Cohere's API has. */
export const cohereV1Prefix = '/cohere/v1'

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
