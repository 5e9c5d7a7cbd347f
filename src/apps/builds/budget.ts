import { maxCost } from '../../gateway/models/charge.ts'
import { maxInputTokens } from '../../gateway/models/tokens.ts'
import type { AppContext } from '../../kernel/context.ts'
import { ApiError } from '../../kernel/errors.ts'
import { assetPromptCharsMax } from '../../kernel/limits.ts'
import { nano, type NanoUsd } from '../../kernel/money.ts'
import { findQuote } from '../assets/generator.ts'
import { demoBuilder, findServiceModel, type ServiceModel } from '../models/model-call.ts'
import { assetRequestKinds } from '../scan/asset-requests.ts'
import { pagePrompt, planPrompt } from './prompts.ts'

/** Repairs of a page that failed its checks. */
export const repairsMax = 2
/** Assets that a build generates. Others stay missing. */
export const buildAssetsMax = 8
const planTokens = 1_500
const pageTokens = 32_000
const errorTokens = 4_000

/** Finds the model that builds apps; games may use another one. */
export function findBuilderModel(ctx: AppContext, kind: 'app' | 'game'): ServiceModel | undefined {
  const { builderModel, gameBuilderModel } = ctx.config
  const id = (kind === 'game' && gameBuilderModel) || builderModel || demoBuilder
  return findServiceModel(ctx, id, 'chat')
}

/** Returns the model that builds apps. Throws `no_builder`. */
export function getBuilderModel(ctx: AppContext, kind: 'app' | 'game'): ServiceModel {
  const by = findBuilderModel(ctx, kind)
  if (by) return by
  throw new ApiError('no_builder', {})
}

/** Token limits of the calls of a build, and its maximum price. */
export interface Budget {
  plan: { input: number; output: number }
  page: { input: number; output: number }
  price: NanoUsd
}

/** Returns the maximum price of a build. `page` is the page to change, or empty. */
export function budgetOf(
  ctx: AppContext,
  by: ServiceModel,
  texts: { prompt: string; page: string },
): Budget {
  const contents = [planPrompt('game'), pagePrompt('game'), texts.prompt, texts.page]
  const promptTokens = maxInputTokens(
    { messages: contents.map((content) => ({ role: 'user', content })) },
    0,
  )
  const output = Math.min(by.model.maxOutput || pageTokens, pageTokens)
  const plan = { input: promptTokens, output: planTokens }
  const page = { input: promptTokens + planTokens + output + errorTokens, output }
  const calls = [plan, ...Array.from({ length: 1 + repairsMax }, () => page)]
  const parts = calls.map((tokens) =>
    maxCost(by.price, { inputTokensMax: tokens.input, outputTokensMax: tokens.output }),
  )
  const price = [...parts, maxAssetsCost(ctx)].reduce((sum, part) => sum + part, 0n)
  return { plan, page, price: nano(price) }
}

const longest = 'x'.repeat(assetPromptCharsMax)
const asks = assetRequestKinds.map((kind) => ({ name: 'x', kind, what: longest, seconds: 60 }))

/** Returns the price of the most expensive assets that a build can generate. */
function maxAssetsCost(ctx: AppContext): bigint {
  if (!ctx.config.assetsOn) return 0n
  const prices = asks.map((one) => findQuote(ctx, one)?.price ?? 0n)
  return prices.reduce((max, one) => (one > max ? one : max), 0n) * BigInt(buildAssetsMax)
}
