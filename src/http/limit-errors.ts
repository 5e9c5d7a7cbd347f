import type { AppContext } from '../context.ts'
import { ApiError, type ErrorName } from '../errors.ts'

/** Errors of limits that do not say when to retry. All others have `retryAfter`. */
const quotas = new Set<ErrorName>([
  'busy',
  'try_again',
  'storage_full',
  'files_full',
  'assets_full',
  'too_many_assets',
])

/** Counts an error of a limit for the metrics. */
export function countLimitError({ state: { limitErrors } }: AppContext, error: unknown): void {
  if (!(error instanceof ApiError)) return
  const { errorName, details } = error
  const isLimit = quotas.has(errorName) || details.some((one) => 'retryAfter' in one)
  if (isLimit) limitErrors.set(errorName, (limitErrors.get(errorName) ?? 0) + 1)
}
