import type { AppContext } from '../../server/context.ts'
import { ApiError, type ErrorName } from '../errors.ts'
import type { RequestContext } from './request-context.ts'

/** Errors of limits that do not say when to retry. All others have `retryAfter`. */
const quotas = new Set<ErrorName>([
  'busy',
  'try_again',
  'storage_full',
  'files_full',
  'assets_full',
  'too_many_assets',
])

/** Notes an error for the console, and counts that of a limit for the metrics. */
export function noteError(
  { state: { limitErrors } }: AppContext,
  context: RequestContext,
  error: unknown,
): void {
  context.cause = causeOf(error)
  if (!(error instanceof ApiError)) return
  const { errorName, details } = error
  const isLimit = quotas.has(errorName) || details.some((one) => 'retryAfter' in one)
  if (isLimit) limitErrors.set(errorName, (limitErrors.get(errorName) ?? 0) + 1)
}

const causeCharsMax = 200

/** Returns the name of an expected error, or the message of another one without any values. */
function causeOf(error: unknown): string {
  if (error instanceof ApiError) return error.errorName
  if (!(error instanceof Error)) return 'unexpected'
  // A failed query has its parameters in the message. The log has the stack.
  const cause = 'query' in error && error.cause instanceof Error ? error.cause : error
  if ('code' in cause && typeof cause.code === 'string') {
    return cause.code === 'NOT_FOUND' ? 'unknown path' : cause.code.slice(0, causeCharsMax)
  }
  return `${cause.name}: ${cause.message.split('\n')[0] ?? ''}`.slice(0, causeCharsMax)
}
