import { type Nano, zero } from '../../core/money.ts'
import { unknownOutputTokens, unknownWindowTokens } from '../../limits.ts'
import type { Model } from '../../models/catalogue.ts'
import { worstCase } from '../../models/charge.ts'
import type { Price } from '../../models/price.ts'
import { tokensAtMost } from '../../models/tokens.ts'
import type { UsageLimits } from '../../models/usage.ts'
import type { Candidate } from './candidates.ts'

/** What the worst case of a request depends on. */
export interface Sizes {
  body: Record<string, unknown>
  /** Tokens a choice may have, as the request says. */
  outputMax: number | undefined
  choices: number
}

/** The most one request can cost at any of its candidates, and the price that makes it so. */
export interface Worst {
  amount: Nano
  price: Price
}

/** The most tokens a request can use at a model (money.md, "Worst case of a chat request"). */
export function limitsOf({ body, outputMax, choices }: Sizes, model: Model): UsageLimits {
  const window = model.contextLength || unknownWindowTokens
  const own = model.maxOutput || Math.min(window, unknownOutputTokens)
  return {
    prompt: Math.min(tokensAtMost(body, model.pictureTokens), window),
    completion: choices * Math.min(outputMax ?? own, own, window),
  }
}

/** The worst case over all candidates: whichever serves, its charge fits the hold. */
export function worstOf(sizes: Sizes, candidates: [Candidate, ...Candidate[]]): Worst {
  const seen = new Map<Model, UsageLimits>()
  let worst: Worst = { amount: zero, price: candidates[0].price }
  for (const { model, price } of candidates) {
    const limits = seen.get(model) ?? limitsOf(sizes, model)
    seen.set(model, limits)
    const bounds = { inputTokensMax: limits.prompt, outputTokensMax: limits.completion }
    const amount = worstCase(price, bounds)
    if (amount > worst.amount) worst = { amount, price }
  }
  return worst
}
