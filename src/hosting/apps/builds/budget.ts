import type { AppContext } from '../../../context.ts'
import { nano, type NanoUsd } from '../../../core/money.ts'
import { assetWhatCharsMax } from '../../../limits.ts'
import { maxCost } from '../../../models/charge.ts'
import { maxInputTokens } from '../../../models/tokens.ts'
import { askKinds } from '../../../scan/asset-asks.ts'
import { type ServiceModel } from '../../models/model-call.ts'
import { findQuote } from '../assets/generator.ts'
import { planning, writing } from './prompts.ts'

/** Repairs of a page that failed its checks. */
export const repairsMax = 2
/** Assets that a build generates. Others stay missing. */
export const buildAssetsMax = 8
const planTokens = 1_500
const pageTokens = 32_000
/** Tokens for the errors in a repair prompt. */
const faultTokens = 4_000

/** Token limits of the calls of a build, and its maximum price. */
export interface Budget {
  plan: { input: number; output: number }
  page: { input: number; output: number }
  price: NanoUsd
}

/**
 * Returns the maximum price of a build: a plan, a page, its repairs and its assets. `page` is the
 * page to change, or empty.
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
    maxCost(by.price, { inputTokensMax: most.input, outputTokensMax: most.output }),
  )
  const price = [...parts, assetsAtMost(ctx)].reduce((sum, part) => sum + part, 0n)
  return { plan, page, price: nano(price) }
}

const longest = 'x'.repeat(assetWhatCharsMax)
const asks = askKinds.map((kind) => ({ name: 'x', kind, what: longest, seconds: 60 }))

/**
 * Returns the maximum price of the assets of a build: the most expensive kind, times the number.
 */
function assetsAtMost(ctx: AppContext): bigint {
  if (!ctx.config.assetsOn) return 0n
  const prices = asks.map((one) => findQuote(ctx, one)?.price ?? 0n)
  return prices.reduce((most, one) => (one > most ? one : most), 0n) * BigInt(buildAssetsMax)
}
