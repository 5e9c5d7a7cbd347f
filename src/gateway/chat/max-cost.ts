import {
  searchesPerRequestMax,
  searchResultTextBytesMax,
  unknownOutputTokens,
  unknownWindowTokens,
} from '../../kernel/limits.ts'
import type { Model } from '../models/catalog.ts'
import { maxInputTokens, mayContainAudio } from '../models/tokens.ts'
import type { UsageLimits } from '../models/usage.ts'
import { type Candidates, type MaxCost, maxCostOf } from '../paid/candidates.ts'
import type { PreparedChat } from './request.ts'

/** The parts of a chat request that its maximum cost depends on. */
export type ChatSize = Pick<
  PreparedChat,
  'body' | 'outputMax' | 'choices' | 'search' | 'nativeBytes'
>

/** Tokens that a search adds to a prompt beside its results: the call and the frames of both. */
const searchFrameTokens = 3_000

/**
 * Returns the output tokens per choice at most: the model's cap or the request's, within the
 * window. Without either it is a default that certainly fits beside the prompt, else the whole
 * window.
 */
function outputTokensPerChoice(size: ChatSize, model: Model): number {
  const { outputMax } = size
  const { maxOutput, contextLength } = model
  const window = contextLength || unknownWindowTokens
  const max = Math.min(outputMax ?? window, maxOutput || window, window)
  if (maxOutput || outputMax !== undefined) return max
  const isSafe = inputTokensMax(size, model) + unknownOutputTokens <= window
  return isSafe ? unknownOutputTokens : max
}

const inputTokensMax = ({ body, nativeBytes }: ChatSize, model: Model): number =>
  maxInputTokens(body, model.imageTokens, model.contextLength, nativeBytes)

/** Returns the output limit to send; undefined where the upstream stops there by itself. */
export function upstreamOutputLimit(size: ChatSize, model: Model): number | undefined {
  const { contextLength, maxOutput } = model
  const own = Math.min(size.outputMax ?? (maxOutput || Infinity), contextLength || Infinity)
  const max = outputTokensPerChoice(size, model)
  return max < own ? max : undefined
}

/**
 * Returns the largest usage of a request at a model (docs/spec/money.md, "Maximum cost of a chat
 * request"). A request that may search is sent once more for each search, with all rounds before.
 */
export function limitsOf(size: ChatSize, model: Model): UsageLimits {
  const { choices, search } = size
  const window = model.contextLength || Infinity
  const completion = choices * outputTokensPerChoice(size, model)
  const prompt = inputTokensMax(size, model)
  if (!search) return { prompt, completion }
  let allRounds = 0
  for (let searches = 0; searches <= searchesPerRequestMax; searches += 1) {
    const results = searches * (searchResultTextBytesMax + searchFrameTokens)
    const round = prompt + searchFrameTokens + results + (searches && completion)
    allRounds += Math.min(round, window)
  }
  return { prompt: allRounds, completion: completion + searchesPerRequestMax }
}

export function chatLimits(size: ChatSize, candidates: Candidates): Map<Model, UsageLimits> {
  const limits = new Map<Model, UsageLimits>()
  for (const { model } of candidates) {
    if (!limits.has(model)) limits.set(model, limitsOf(size, model))
  }
  return limits
}

export function chatMaxCost(chat: {
  request: ChatSize
  candidates: Candidates
  limits: ReadonlyMap<Model, UsageLimits>
}): MaxCost {
  const { request, candidates, limits } = chat
  return maxCostOf(candidates, (model, price) => {
    const { prompt, completion } = limits.get(model) ?? limitsOf(request, model)
    return {
      inputTokensMax: prompt,
      hasAudio: price.audio !== undefined && mayContainAudio(request.body),
      outputTokensMax: completion,
      searches: request.search ? searchesPerRequestMax : 0,
    }
  })
}
