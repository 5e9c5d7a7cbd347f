import { maxCost } from '../../gateway/models/charge.ts'
import { insertUse } from '../../gateway/models/history.ts'
import { maxInputTokens } from '../../gateway/models/tokens.ts'
import type { Usage } from '../../gateway/models/usage.ts'
import { analyzePrompt } from '../../gateway/providers/demo/builder/prompt-analysis.ts'
import type { Job } from '../../jobs/handlers.ts'
import type { AppContext } from '../../kernel/context.ts'
import type { Db } from '../../kernel/db/engine.ts'
import { ApiError } from '../../kernel/errors.ts'
import { assetPromptCharsMax } from '../../kernel/limits.ts'
import { nano, type NanoUsd, zero } from '../../kernel/money.ts'
import { findBalance } from '../../money/ledger/accounts.ts'
import { listOpenHolds, settleHold } from '../../money/ledger/ledger.ts'
import { findQuote } from '../assets/generator.ts'
import { demoBuilder, findServiceModel, type ServiceModel } from '../model-call.ts'
import { assetRequestKinds } from '../scan/asset-requests.ts'
import { recountFreeBudget } from './free-credits.ts'
import type { BuildData } from './job-data.ts'
import { pagePrompt, planPrompt } from './plan.ts'

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

type Used = BuildData['used']

export const addUsage = (used: Used, call: Usage): Used => ({
  prompt: used.prompt + call.prompt,
  cached: used.cached + call.cached,
  completion: used.completion + call.completion,
  reasoning: used.reasoning + call.reasoning,
  estimated: used.estimated || call.estimated,
})

/** Settles the hold of a build and records its usage. `cost` is in nano-USD. Returns the charge. */
export async function settleBuild(
  ctx: AppContext,
  db: Db,
  job: Job,
  { by, used, cost }: { by: ServiceModel; used: Used; cost: bigint },
): Promise<NanoUsd> {
  const [open] = await listOpenHolds(db, job.id)
  if (!open) throw new Error(`the build ${job.id} has no open hold`)
  const { account, amount, charged } = await settleHold(ctx, db, open, nano(cost))
  const payer = charged > zero ? await findBalance(db, account) : undefined
  await recountFreeBudget(db, job, payer?.lastFree ?? zero)
  const now = ctx.clock.now()
  await insertUse(db, {
    account,
    requestId: job.id,
    at: now,
    model: by.model.id,
    type: 'chat',
    source: 'build',
    status: 'completed',
    upstream: by.upstream,
    price: by.price.id,
    input: used.prompt,
    cached: used.cached,
    output: used.completion,
    reasoning: used.reasoning,
    searches: 0,
    estimated: used.estimated,
    charged,
    held: amount,
    ms: now - job.created,
    firstByteMs: null,
  })
  return charged
}

/** Apps are built by a model, by the templates of the demo builder, or not at all. */
export type BuilderKind = 'model' | 'templates' | 'none'

/** Returns what builds apps from descriptions on this server. */
export function builderKind(ctx: AppContext, kind: 'app' | 'game' = 'app'): BuilderKind {
  const by = findBuilderModel(ctx, kind)
  if (by === undefined) return 'none'
  return by.model.id === demoBuilder ? 'templates' : 'model'
}

/**
 * Returns the reason why no template makes a description, so that a page can say it before an
 * account or a job exists. Undefined where one does, and for a model, which decides by itself.
 */
export function whyDeclined(
  ctx: AppContext,
  kind: 'app' | 'game',
  prompt: string,
): string | undefined {
  if (builderKind(ctx, kind) !== 'templates') return undefined
  const spec = analyzePrompt(prompt)
  return 'declined' in spec ? `This server has no model: ${spec.declined}` : undefined
}
