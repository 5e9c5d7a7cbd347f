import type { NanoUsd } from '../../kernel/money.ts'
import type { StoredResponse } from '../../money/idempotency/idempotency.ts'
import type { Model } from '../models/catalog.ts'
import { estimatePromptTokens } from '../models/tokens.ts'
import type { UsageLimits } from '../models/usage.ts'
import type { Candidate } from '../paid/candidates.ts'
import type { PaidCall } from '../paid/paid-call.ts'
import { limitsOf } from './max-cost.ts'
import type { NativeChat } from './native-chat.ts'
import type { PreparedChat } from './request.ts'
import { ResponseMeter } from './response-meter.ts'
import type { SearchSession } from './search/search-session.ts'

/** A chat call, checked and ready to be held and served. */
export interface ChatCall extends PaidCall {
  request: PreparedChat
  /** The largest usage at each model of the candidates. */
  limits: ReadonlyMap<Model, UsageLimits>
  /** The cost of audio transcriptions for this chat, a part of the reported cost. */
  transcriptionCost: NanoUsd
  /** The request in the format of another API, for upstreams that speak it. */
  native?: NativeChat | undefined
  /** The candidate that has just rejected the native request. It gets the chat. */
  rejectedBy?: Candidate
  /** Keeps a whole response for the same request; undefined without the field `cache`. */
  keep?: ((response: StoredResponse) => void) | undefined
  /** The rounds of a web search with the candidate of the current attempt. */
  searching?: SearchSession
}

export const createMeter = (
  { request, limits, searching }: ChatCall,
  { model }: Candidate,
): ResponseMeter =>
  new ResponseMeter({
    limits: limits.get(model) ?? limitsOf(request, model),
    choices: request.choices,
    searching,
    countPrompt: () => estimatePromptTokens(request.body, model.imageTokens),
  })
