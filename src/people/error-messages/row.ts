import type { TProperties } from '@sinclair/typebox'

import type { DetailsOf, HostingErrorName } from '../../kernel/errors.ts'
import { lookUp } from '../../kernel/schema.ts'
import { t } from '../../kernel/words/message.ts'

/** The response to one error. */
export interface ErrorRow<N extends HostingErrorName> {
  status: 202 | 400 | 401 | 402 | 403 | 404 | 409 | 410 | 413 | 422 | 426 | 429 | 502 | 503
  /** The wire code, where it differs from the name of the error. */
  code?: string
  /** States what happened and what to do next. A text names details in braces. */
  message: string | ((...facts: DetailsOf<N>) => string)
  /** The same for people on a page, where `message` names operations or fields of the API. */
  onPage?: string | ((...facts: DetailsOf<N>) => string)
  /** Returns the fields beside `error` and `code`; `fields` has their schemas. */
  details?(...facts: DetailsOf<N>): Record<string, unknown>
  fields?: TProperties
}

/** The rows of one topic. */
export type ErrorRows = { [N in HostingErrorName]?: ErrorRow<N> }

/** Returns when to try again, rounded up to seconds, minutes or hours. */
export function retryHint({ retryAfter }: { retryAfter: number }): string {
  if (retryAfter < 120) return t('Try again in {retryAfter} s.', { retryAfter })
  const minutes = Math.ceil(retryAfter / 60)
  return t('Try again in {part}.', {
    part:
      minutes < 120
        ? t('{minutes} minutes', { minutes })
        : t('{ceil} hours', { ceil: Math.ceil(minutes / 60) }),
  })
}

/** Returns the row of a rate limit, whose text names `max` and `retryHint`. */
export const limitRow = (text: string) => ({
  status: 429 as const,
  message: (facts: { max: number; retryAfter: number }) =>
    t(text, { max: facts.max, retryHint: retryHint(facts) }),
})

/** Returns a size in KB or MB, rounded up: one byte over a limit never reads as the limit. */
export const formatSize = (bytes: number): string =>
  bytes < 1_048_576
    ? `${Math.ceil((bytes / 1_024) * 10) / 10} KB`
    : `${Math.ceil((bytes / 1_048_576) * 10) / 10} MB`

/** Labels of fields whose names read differently. */
const labels: Record<string, string> = { html: 'Page', priceRemix: 'Remix price' }

/**
 * Replaces field names of the API by form labels ("title" becomes “Title”), and JSON types by what
 * a person can do about them.
 */
export const withFieldLabels = (problem: string): string =>
  problem
    .replace(
      /"([a-z])(\w*)"/g,
      (_, first: string, rest: string) =>
        `“${lookUp(labels, first + rest) ?? first.toUpperCase() + rest}”`,
    )
    .replace(/” must be a string, not empty/, '” must not be empty')
    .replace(/” must be a string \((\d+ to \d+ characters)\)/, '” needs $1')
    .replace(/” must be an integer \((\d+ to \d+)\)/, '” must be a number from $1')
