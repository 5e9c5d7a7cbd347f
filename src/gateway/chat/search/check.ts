import type { RateLimit } from '../../../core/counters.ts'
import { isRecord } from '../../../core/schema.ts'
import { ApiError } from '../../../errors.ts'
import { searchesPerMinuteMax } from '../../../limits.ts'
import type { Model } from '../../../models/catalogue.ts'
import type { Searcher } from '../../../providers/search/searcher.ts'
import { misfit } from '../../fields.ts'
import type { Asked } from '../asked.ts'
import { toolName } from './tool.ts'

/**
 * Whether a request may search the web (document 2, section 7): W206 on a server without search,
 * W207 on a model without tools, W109 over six searching calls a minute of one account. Refuses
 * bad_request for several choices, and for a tool of the caller's that has our tool's name.
 */
export function checkSearch(
  searcher: Searcher | undefined,
  { body, choices }: Pick<Asked, 'body' | 'choices'>,
  models: Model[],
  searches: RateLimit,
  account: string,
): void {
  if (!searcher) throw new ApiError('search_off')
  const mute = models.find(({ supportsTools }) => !supportsTools)
  if (mute) throw new ApiError('model_cannot_search', { model: mute.id })
  if (choices > 1) throw misfit('n', 'web_search is for one choice: leave n out.')
  if (Array.isArray(body.tools) && body.tools.some(isOurs)) {
    throw misfit('tools', `With web_search no tool of yours is called ${toolName}.`)
  }
  const retryAfter = searches.take(account)
  if (retryAfter === undefined) return
  throw new ApiError('searches_limit', { max: searchesPerMinuteMax, retryAfter })
}

const isOurs = (tool: unknown): boolean =>
  isRecord(tool) && isRecord(tool.function) && tool.function.name === toolName
