import type { RateLimit } from '../../core/counters.ts'
import { searchesPerMinuteMax } from '../../limits.ts'
import type { Model } from '../../models/catalogue.ts'
import { Refusal } from '../../refusals.ts'

/**
 * Whether a request may search the web (document 2, section 7): W206 on a server without search,
 * W207 on a model without tools, W109 over six searching calls a minute of one account.
 */
export function checkSearch(
  hasSearch: boolean,
  models: Model[],
  searches: RateLimit,
  account: string,
): void {
  if (!hasSearch) throw new Refusal('search_off')
  const mute = models.find(({ supportsTools }) => !supportsTools)
  if (mute) throw new Refusal('model_cannot_search', { model: mute.id })
  const retryAfter = searches.take(account)
  if (retryAfter === undefined) return
  throw new Refusal('searches_limit', { max: searchesPerMinuteMax, retryAfter })
}
