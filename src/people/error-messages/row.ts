import type { TProperties } from '@sinclair/typebox'

import type { DetailsOf, HostingErrorName } from '../../kernel/errors.ts'

/** The response to one error. */
export interface ErrorRow<N extends HostingErrorName> {
  status: 202 | 400 | 401 | 402 | 403 | 404 | 409 | 410 | 413 | 422 | 429 | 502 | 503
  /** The wire code, where it differs from the name of the error. */
  code?: string
  /** States what happened and what to do next. */
  message: string | ((...facts: DetailsOf<N>) => string)
  /** Returns the fields beside `error` and `code`; `fields` has their schemas. */
  details?(...facts: DetailsOf<N>): Record<string, unknown>
  fields?: TProperties
}

/** The rows of one topic. */
export type ErrorRows = { [N in HostingErrorName]?: ErrorRow<N> }

/** Returns when to try again, rounded up to seconds, minutes or hours. */
export function retryHint({ retryAfter }: { retryAfter: number }): string {
  if (retryAfter < 120) return `Try again in ${retryAfter} s.`
  const minutes = Math.ceil(retryAfter / 60)
  return `Try again in ${minutes < 120 ? `${minutes} minutes` : `${Math.ceil(minutes / 60)} hours`}.`
}

/** Returns a size in KB or MB, rounded up: one byte over a limit never reads as the limit. */
export const formatSize = (bytes: number): string =>
  bytes < 1_048_576
    ? `${Math.ceil((bytes / 1_024) * 10) / 10} KB`
    : `${Math.ceil((bytes / 1_048_576) * 10) / 10} MB`
