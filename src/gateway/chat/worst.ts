import { type NanoUsd, zero } from '../../core/money.ts'
import {
  searchesPerRequestMax,
  searchWordsBytesMax,
  unknownOutputTokens,
  unknownWindowTokens,
} from '../../limits.ts'
import type { Model } from '../../models/catalogue.ts'
import { worstCase } from '../../models/charge.ts'
import type { Price } from '../../models/price.ts'
import { mayHoldSound, tokensAtMost } from '../../models/tokens.ts'
import type { UsageLimits } from '../../models/usage.ts'
import type { Candidates } from '../paid/candidates.ts'

/** What the worst case of a request depends on. */
export interface Sizes {
  body: Record<string, unknown>
  /** Tokens a choice may have, as the request says. */
  outputMax: number | undefined
  choices: number
  /** Whether it may search the web. */
  search: boolean
}

/** The most one request can cost at any of its candidates, and the price that makes it so. */
export interface Worst {
  amount: NanoUsd
  price: Price
}

/** Beside its words, what a search adds to a prompt: the call, and the frames around both. */
const searchFrameTokens = 3_000

/**
 * The most output tokens of one choice at a model. Where its cap is not known it is the request's
 * own number, else so many as the window takes for certain beside the prompt, else the window.
 */
function outputMost(
  { body, outputMax }: Sizes,
  { maxOutput, contextLength, pictureTokens }: Model,
) {
  const window = contextLength || unknownWindowTokens
  const most = Math.min(outputMax ?? window, maxOutput || window, window)
  if (maxOutput || outputMax !== undefined) return most
  const fits = tokensAtMost(body, pictureTokens, contextLength) + unknownOutputTokens <= window
  return fits ? unknownOutputTokens : most
}

/** The same, where the upstream has to be told: else it stops there by itself. */
export function outputToTell(sizes: Sizes, model: Model): number | undefined {
  const { contextLength, maxOutput } = model
  const itself = Math.min(sizes.outputMax ?? (maxOutput || Infinity), contextLength || Infinity)
  const most = outputMost(sizes, model)
  return most < itself ? most : undefined
}

/**
 * The most tokens a request can use at a model (money.md, "Worst case of a chat request"). One that
 * may search is sent once more for each search, with all that was said and found before.
 */
export function limitsOf(sizes: Sizes, model: Model): UsageLimits {
  const { body, choices, search } = sizes
  const window = model.contextLength || Infinity
  const completion = choices * outputMost(sizes, model)
  const prompt = tokensAtMost(body, model.pictureTokens, model.contextLength)
  if (!search) return { prompt, completion }
  const rounds = Array.from({ length: searchesPerRequestMax + 1 }, (_, searches) => {
    const found = searches * (searchWordsBytesMax + searchFrameTokens)
    return Math.min(prompt + searchFrameTokens + found + (searches && completion), window)
  })
  const sum = rounds.reduce((all, one) => all + one, 0)
  return { prompt: sum, completion: completion + searchesPerRequestMax }
}

/** The worst case over all candidates: whichever serves, its charge fits the hold. */
export function worstOf(sizes: Sizes, candidates: Candidates): Worst {
  const seen = new Map<Model, UsageLimits>()
  let worst: Worst = { amount: zero, price: candidates[0].price }
  for (const { model, price } of candidates) {
    const limits = seen.get(model) ?? limitsOf(sizes, model)
    seen.set(model, limits)
    const amount = worstCase(price, {
      inputTokensMax: limits.prompt,
      sound: price.audio !== undefined && mayHoldSound(sizes.body),
      outputTokensMax: limits.completion,
      searches: sizes.search ? searchesPerRequestMax : 0,
    })
    if (amount > worst.amount) worst = { amount, price }
  }
  return worst
}
