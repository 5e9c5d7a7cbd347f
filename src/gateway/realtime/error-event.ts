import { isWriteUnavailable } from '../../kernel/db/error.ts'
import { ApiError, type GatewayErrorName } from '../../kernel/errors.ts'
import { newId } from '../../kernel/ids.ts'
import { errorEnvelope, isGatewayError } from '../error-response.ts'

/** Close codes of RFC 6455, section 7.4.1. */
export const closeCodes = { done: 1_000, stops: 1_001, rejected: 1_008, failed: 1_011 } as const

const ofUpstream = new Set<GatewayErrorName>(['session_broken', 'try_again'])

/** Returns the error that a client receives; undefined for an internal error. */
export function toGatewayError(error: unknown): ApiError<GatewayErrorName> | undefined {
  if (isGatewayError(error)) return error
  return isWriteUnavailable(error) ? new ApiError('try_again', {}) : undefined
}

/** Returns the close code of a session that ends with an error. */
export function closeCodeOf(error: ApiError<GatewayErrorName> | undefined): number {
  if (!error || ofUpstream.has(error.errorName)) return closeCodes.failed
  return error.errorName === 'server_stops' ? closeCodes.stops : closeCodes.rejected
}

/** Returns an error as an event in OpenAI's format. `cause`: the `event_id` of its event. */
export function errorEvent(
  error: ApiError<GatewayErrorName> | undefined,
  requestId: string,
  cause?: unknown,
): string {
  const body = error
    ? errorEnvelope(error).body.error
    : {
        type: 'api_error',
        code: 'internal',
        message: `Internal error. Send the operator this request id: ${requestId}`,
        param: null,
      }
  const event_id = typeof cause === 'string' ? cause.slice(0, 512) : null
  return JSON.stringify({
    type: 'error',
    event_id: `event_${newId()}`,
    error: { ...body, event_id },
  })
}
