import { ApiError, type GatewayErrorName, isApiError } from '../../kernel/errors.ts'
import { isRecord } from '../../kernel/schema.ts'
import {
  isContentFilterError,
  isTransientStatus,
  reasonOf,
  type UpstreamRejection,
} from '../providers/error-body.ts'
import { UpstreamError } from '../providers/upstream.ts'
import type { CallDeadlines } from './deadlines.ts'

/** The consequences of an upstream call that failed (document 2, section 7). */
export interface UpstreamFailure {
  /** The error that the client receives. */
  error: ApiError<GatewayErrorName>
  /** `delivered`: the prompt, and the output so far, for a client that left. */
  charges: 'nothing' | 'hold' | 'delivered'
  /** True if the next candidate may be tried. */
  canTryNext: boolean
}

export const isFailure = (value: object): value is UpstreamFailure => 'canTryNext' in value

/** Returns a failure that costs nothing. */
export const free = (error: ApiError<GatewayErrorName>, canTryNext: boolean): UpstreamFailure => ({
  error,
  charges: 'nothing',
  canTryNext,
})

const charged = (
  error: ApiError<GatewayErrorName>,
  charges: 'hold' | 'delivered',
): UpstreamFailure => ({ error, charges, canTryNext: false })

/** The response cannot be read, and the upstream bills it (document 2, section 7). */
export const unreadable: UpstreamFailure = charged(new ApiError('unreadable'), 'hold')
export const noContent: UpstreamFailure = free(new ApiError('no_content'), false)
export const contentFiltered: UpstreamFailure = free(new ApiError('content_policy'), false)
/** A result that the upstream names by a URL could not be fetched. */
export const unfetchable: UpstreamFailure = free(new ApiError('upstream_failed', {}), false)
/** No candidate is available. */
export const unavailable: UpstreamFailure = free(new ApiError('model_unavailable'), true)

const ofRequest = new Set<string>([
  'bad_request',
  'content_policy',
  'guardrail_failed',
  'guardrail_refused',
  'upstream_rejected',
])

/** Returns whether a failure is the upstream's, not that of a request or a client. */
export const isOfUpstream = ({ error: { errorName }, charges }: UpstreamFailure): boolean =>
  charges !== 'delivered' && !ofRequest.has(errorName)

const deadlinePassed: UpstreamFailure = charged(new ApiError('deadline'), 'hold')
/** The client left, so it never receives this error. */
const clientLeft: UpstreamFailure = charged(new ApiError('gateway_unavailable'), 'delivered')

/** Returns the failure of a call that was interrupted or whose response broke off. */
export const interruptionOf = ({ cause }: CallDeadlines): UpstreamFailure =>
  cause === 'client' ? clientLeft : cause === 'deadline' ? deadlinePassed : unreadable

/**
 * Returns the failure of a call without a response, or of a request that the API of the upstream
 * cannot express. Rethrows other errors that are not the upstream's.
 */
export function failureOfError(error: unknown, deadlines: CallDeadlines): UpstreamFailure {
  if (deadlines.cause) return interruptionOf(deadlines)
  if (isApiError(error, 'bad_request')) return free(error, false)
  if (!(error instanceof UpstreamError)) throw error
  if (error.kind === 'unreadable') return unreadable
  const isUnreachable = error.kind === 'refused'
  const failed = isUnreachable
    ? new ApiError('gateway_unavailable')
    : new ApiError('upstream_failed', {})
  return free(failed, true)
}

/** Returns the failure of a request that an upstream rejected (document 2, section 7). */
export function failureOfRejection(
  { status, body, retryAfter }: UpstreamRejection,
  reason = reasonOf(body),
): UpstreamFailure {
  if (isContentFilterError(body)) return contentFiltered
  if (status === 429) {
    return free(new ApiError('upstream_busy', { retryAfter: retryAfter ?? 1 }), true)
  }
  if ([401, 402, 403].includes(status)) return unavailable
  if (isTransientStatus(status)) {
    return free(new ApiError('upstream_failed', { retryAfter }), true)
  }
  // The operator has to fix an unknown model. The upstream's words would name the account.
  const isUnknown = status === 404
  return free(new ApiError('upstream_rejected', isUnknown ? {} : reason), isUnknown)
}

/** Returns the failure of an error in a stream, or in a response with status 200. */
export function failureOfErrorBody(error: unknown): UpstreamFailure {
  const code = isRecord(error) ? (error.status ?? error.code) : undefined
  const status = typeof code === 'number' && code >= 400 && code < 600 ? code : 502
  // This error may contain the upstream's key, so its text is not forwarded.
  return failureOfRejection({ status, body: { error } }, {})
}
