import type { AppContext } from '../../kernel/context.ts'
import { ApiError } from '../../kernel/errors.ts'
import {
  searchesPerRequestMax,
  searchResultTextBytesMax,
  unknownOutputTokens,
  unknownWindowTokens,
} from '../../kernel/limits.ts'
import type { Json } from '../../kernel/schema.ts'
import type { ChatRequest } from '../conversation/chat-request.ts'
import type { DecodedChat } from '../conversation/codec.ts'
import { mediaIn } from '../conversation/contents.ts'
import { readModels } from '../fields.ts'
import type { Model } from '../models/catalog.ts'
import {
  estimatePromptTokens,
  maxTokensOf,
  mayContainAudio,
  measurePrompt,
  type PromptSize,
} from '../models/tokens.ts'
import type { UsageLimits } from '../models/usage.ts'
import { chatBodyOf } from '../openai-chat/chat-body.ts'
import { type Candidates, type MaxCost, maxCostOf } from '../paid/candidates.ts'

/** The parts of a chat request that its maximum cost depends on. */
export interface ChatSize {
  /** The request in OpenAI's format. */
  body: Json
  prompt: PromptSize
  outputMax: number | undefined
  choices: number
  search: boolean
}

/** Measures a chat. `rawBytes`: those of the client's own request, where an upstream may get it. */
export function measureChat(request: ChatRequest, search: boolean, rawBytes = 0): ChatSize {
  const { outputMax, choices } = request
  const body = chatBodyOf(request)
  const prompt = measurePrompt(body)
  const bytes = Math.max(prompt.bytes, rawBytes)
  return { body, prompt: { ...prompt, bytes }, outputMax, choices, search }
}

/**
 * Returns the bytes of the client's own request, without its images, where an upstream of the
 * candidates may get it as it is; undefined where none does, or where it is OpenAI's chat.
 */
export function rawBytesOf(
  { upstreams }: AppContext,
  request: ChatRequest,
  candidates: Candidates,
): number | undefined {
  const { raw } = request
  if (!raw || raw.api === 'chat') return undefined
  const { api, body } = raw
  if (!candidates.some(({ offer }) => upstreams.find(offer.upstream)?.apis.includes(api))) {
    return undefined
  }
  // Images have a price of their own.
  const images = mediaIn(request.messages).filter(({ type }) => type === 'image')
  return images.reduce(
    (bytes, { source }) => bytes - ('data' in source ? source.data.length : 0),
    Buffer.byteLength(JSON.stringify(body)),
  )
}

/** Tokens that a search adds to a prompt beside its results: the call and the frames of both. */
const searchFrameTokens = 3_000

/**
 * Returns the output tokens per choice at most: the model's cap or the request's, within the
 * window. Without either it is a default that certainly fits beside the prompt, else the whole
 * window.
 */
export function outputTokensPerChoice(size: ChatSize, model: Model): number {
  const { outputMax } = size
  const { maxOutput, contextLength } = model
  const window = contextLength || unknownWindowTokens
  const max = Math.min(outputMax ?? window, maxOutput || window, window)
  if (maxOutput || outputMax !== undefined) return max
  const isSafe = inputTokensMax(size, model) + unknownOutputTokens <= window
  return isSafe ? unknownOutputTokens : max
}

const inputTokensMax = ({ prompt }: ChatSize, model: Model): number =>
  maxTokensOf(prompt, model.imageTokens, model.contextLength)

/** Returns whether a model stops at `outputTokensPerChoice` without being told the limit. */
export function stopsItself(size: ChatSize, model: Model): boolean {
  const { contextLength, maxOutput } = model
  if (size.outputMax !== undefined) return false
  const own = Math.min(maxOutput || Infinity, contextLength || Infinity)
  return outputTokensPerChoice(size, model) >= own
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
  size: ChatSize
  candidates: Candidates
  limits: ReadonlyMap<Model, UsageLimits>
}): MaxCost {
  const { size, candidates, limits } = chat
  return maxCostOf(candidates, (model, price) => {
    const { prompt, completion } = limits.get(model) ?? limitsOf(size, model)
    return {
      inputTokensMax: prompt,
      hasAudio: price.audio !== undefined && mayContainAudio(size.body),
      outputTokensMax: completion,
      searches: size.search ? searchesPerRequestMax : 0,
    }
  })
}

/** Estimates the input tokens of a request for a model. */
export const estimatePrompt = (
  { catalog }: AppContext,
  model: string,
  request: ChatRequest,
): number => estimatePromptTokens(chatBodyOf(request), catalog.find(model)?.model.imageTokens ?? 0)

/**
 * Estimates the input tokens of a request for its first model. Throws `no_model`, `bad_request`.
 */
export function countPromptTokens(
  ctx: AppContext,
  { model, models, request }: Pick<DecodedChat, 'model' | 'models' | 'request'>,
): number {
  const [id = ''] = readModels(model, models)
  if (ctx.catalog.find(id)?.model.type !== 'chat') throw new ApiError('no_model', { model: id })
  return estimatePrompt(ctx, id, request)
}
