import type { NanoUsd } from '../../kernel/money.ts'
import type { Api, ChatRequest } from '../conversation/chat-request.ts'
import type { ClientCodec } from '../conversation/codec.ts'
import type { Model } from '../models/catalog.ts'
import { estimatePromptTokens } from '../models/tokens.ts'
import type { UsageLimits } from '../models/usage.ts'
import type { Candidate } from '../paid/candidates.ts'
import type { PaidCall } from '../paid/paid-call.ts'
import type { MonitoredUpstream } from '../providers/monitored-upstream.ts'
import type { SentChat } from '../providers/upstream.ts'
import { type ChatSize, limitsOf, outputTokensPerChoice, stopsItself } from './max-cost.ts'
import { ChatMeter } from './meter.ts'
import type { CacheSlot } from './response-cache.ts'
import type { SearchSession } from './search/search-session.ts'

/** A chat call, checked and ready to be held and served. */
export interface ChatCall extends PaidCall {
  request: ChatRequest
  /** The client's API; undefined for one that no upstream speaks. */
  api: Api | undefined
  /** Returns how the client gets the response of a model. */
  clientOf(candidate: Candidate): ClientCodec
  isStream: boolean
  /** The fields without an effect: at an upstream that gets the request as it is, and at others. */
  ignored?: { passed: string[]; written: string[] } | undefined
  size: ChatSize
  /** The largest usage at each model of the candidates. */
  limits: ReadonlyMap<Model, UsageLimits>
  /** The cost of audio transcriptions for this chat, a part of the reported cost. */
  transcriptionCost: NanoUsd
  /** Keeps a whole response for the same request; undefined without the field `cache`. */
  keep?: CacheSlot['keep'] | undefined
}

/** An attempt of a chat at one candidate. */
export interface ChatAttempt {
  chat: ChatCall
  candidate: Candidate
  /** The rounds of its web search. */
  searching?: SearchSession | undefined
}

export const limitsAt = ({ limits, size }: ChatCall, model: Model): UsageLimits =>
  limits.get(model) ?? limitsOf(size, model)

export const createMeter = ({ chat, candidate, searching }: ChatAttempt): ChatMeter =>
  new ChatMeter({
    limits: limitsAt(chat, candidate.model),
    choices: chat.request.choices,
    searching,
    countPrompt: () => estimatePromptTokens(chat.size.body, candidate.model.imageTokens),
  })

/** Sends a chat, or a round of it, to an upstream. Throws UpstreamError without a response. */
export function sendChat(
  { chat, candidate }: ChatAttempt,
  upstream: MonitoredUpstream,
  signal: AbortSignal,
  round: { request?: ChatRequest; outputMax?: number } = {},
): Promise<SentChat> {
  const { model, offer } = candidate
  const { request = chat.request, outputMax } = round
  return upstream.chat({
    request,
    model: offer.model,
    isStream: chat.isStream,
    outputMax: outputMax ?? outputTokensPerChoice(chat.size, model),
    stopsItself: outputMax === undefined && stopsItself(chat.size, model),
    signal,
  })
}
