import type { TProperties } from '@sinclair/typebox'

import type { DetailsOf, HostingErrorName } from '../../errors.ts'

/** How this API says one refusal. */
export interface Row<N extends HostingErrorName> {
  status: Status
  /** The code on the wire, where it is not the refusal's own name. */
  code?: string
  say(...facts: DetailsOf<N>): string
  /** Facts that go beside `error` and `code`, and their shapes. */
  more?(...facts: DetailsOf<N>): Record<string, unknown>
  fields?: TProperties
}

type Status = 400 | 401 | 402 | 403 | 404 | 409 | 410 | 413 | 422 | 429 | 502 | 503

/** The rows of one area. */
export type Rows = { [N in HostingErrorName]?: Row<N> }

/** When to come back, in the unit of so long a wait and never too early. */
export function wait({ retryAfter }: { retryAfter: number }): string {
  if (retryAfter < 120) return `Try again in ${retryAfter} s.`
  const minutes = Math.ceil(retryAfter / 60)
  return `Try again in ${minutes < 120 ? `${minutes} minutes` : `${Math.ceil(minutes / 60)} hours`}.`
}
