import { apiErrorResponse, knownError, pageMessage } from '../people/error-response.ts'

/**
 * Returns the status, message and headers of an expected error, or of a database or disk that
 * cannot take a write; undefined for an internal error.
 */
export function describeError(error: unknown) {
  const known = knownError(error)
  if (!known) return undefined
  const response = apiErrorResponse(known)
  const wait = response.headers.get('retry-after')
  const headers: Record<string, string> = wait === null ? {} : { 'retry-after': wait }
  return { status: response.status, message: pageMessage(known), headers }
}
