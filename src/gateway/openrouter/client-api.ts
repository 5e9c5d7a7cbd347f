import { Type } from '@sinclair/typebox'

import {
  asString,
  type Json,
  lookUp,
  namedObject,
  nullable,
  recordOf,
} from '../../kernel/schema.ts'
import type { ClientApi } from '../client-api.ts'

/** OpenRouter's API. Its clients add `/api/v1`, or have it in their base URL. */
export const openRouter: ClientApi = {
  prefix: '/openrouter',
  publicPrefix: '/api/v1',
  starts: [/^\/api\/v1(?=\/|$)/],
  toError: (body, status) => ({ error: toOpenRouterError(body, status) }),
}

/** The status of an error in a stream, whose response began as 200. */
const streamStatuses: Record<string, number> = { content_policy_violation: 403 }

/**
 * Converts an error of this gateway to OpenRouter's, whose `code` is the status. `metadata` has the
 * code and the field of document 2, section 7.
 */
export function toOpenRouterError(body: Json, status?: number): Json {
  const { message = body.message, code, param, type } = recordOf(body.error)
  const metadata = Object.entries({ error_code: code, param, error_type: type })
  return {
    code: status ?? lookUp(streamStatuses, code) ?? 502,
    message: asString(message),
    metadata: Object.fromEntries(metadata.filter(([, value]) => typeof value === 'string')),
  }
}

export const OpenRouterErrorSchema = namedObject('OpenRouterError', {
  error: Type.Object({
    code: Type.Integer({ description: 'The status.' }),
    message: Type.String({ description: 'The reason, and what to do next.' }),
    metadata: Type.Optional(nullable(Type.Record(Type.String(), Type.Unknown()))),
  }),
})
