import type { AppContext } from '../../../context.ts'
import { nano, type NanoUsd } from '../../../core/money.ts'
import { assetWhatCharsMax } from '../../../limits.ts'
import { maxInputTokens } from '../../../models/tokens.ts'
import { askKinds } from '../../../scan/asset-asks.ts'
import { findQuote } from '../assets/generator.ts'
import { type ServiceModel, maxCost } from '../../models/model-call.ts'
import { planning, writing } from './prompts.ts'

/** How often a page that did not pass is mended. */
export const repairsMax = 2
/** Assets of a page that are made with its build; others wait. */
export const buildAssetsMax = 8
const planTokens = 1_500
const pageTokens = 32_000
/** What is wrong with a page, told to its model. */
const faultTokens = 4_000

/** The tokens that the calls of one build may use, and the most that all of it can cost. */
export interface Budget {
  plan: { input: number; output: number }
  page: { input: number; output: number }
  price: NanoUsd
}

/**
 * The price of a build before it begins: a plan, a page, its repairs, and its assets, each at its
 * most. `page` is the page that is changed, or empty.
 */
export function budgetOf(
  ctx: AppContext,
  by: ServiceModel,
  texts: { prompt: string; page: string },
): Budget {
  const words = [planning('game'), writing('game'), texts.prompt, texts.page]
  const asked = maxInputTokens({ messages: words.map((content) => ({ role: 'user', content })) }, 0)
  const output = Math.min(by.model.maxOutput || pageTokens, pageTokens)
  const plan = { input: asked, output: planTokens }
  const page = { input: asked + planTokens + output + faultTokens, output }
  const calls = [plan, ...Array.from({ length: 1 + repairsMax }, () => page)]
  const parts = calls.map((most) =>
    maxCost(by, { inputTokensMax: most.input, outputTokensMax: most.output }),
  )
  const price = [...parts, assetsAtMost(ctx)].reduce((sum, part) => sum + part, 0n)
  return { plan, page, price: nano(price) }
}

const longest = 'x'.repeat(assetWhatCharsMax)
const asks = askKinds.map((kind) => ({ name: 'x', kind, what: longest, seconds: 60 }))

/** The dearest of the kinds that can be made here, as often as a build makes one. */
function assetsAtMost(ctx: AppContext): bigint {
  if (!ctx.config.assetsOn) return 0n
  const prices = asks.map((one) => findQuote(ctx, one)?.price ?? 0n)
  return prices.reduce((most, one) => (one > most ? one : most), 0n) * BigInt(buildAssetsMax)
}
