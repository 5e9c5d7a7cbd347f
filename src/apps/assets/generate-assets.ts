import type { Job } from '../../jobs/handlers.ts'
import { enqueue } from '../../jobs/jobs.ts'
import type { AppContext } from '../../kernel/context.ts'
import type { Db } from '../../kernel/db/engine.ts'
import { ApiError, rejectRequest } from '../../kernel/errors.ts'
import { accepted, completed, created, type Success } from '../../kernel/http/outcome.ts'
import { assetPromptCharsMax, assetVoiceCharsMax } from '../../kernel/limits.ts'
import { nano, type NanoUsd, parseCredits, toCredits } from '../../kernel/money.ts'
import { recordOf } from '../../kernel/schema.ts'
import { isPlainLine, isPlainText } from '../../kernel/text.ts'
import { minute, second } from '../../kernel/time.ts'
import { agentAccount, availableOf, findBalance } from '../../money/ledger/accounts.ts'
import { checkDailyCap, type HoldRequest } from '../../money/ledger/holds.ts'
import { pay } from '../../money/pay.ts'
import { type Caller, capFor } from '../../people/agents/spending.ts'
import * as apps from '../apps.ts'
import { type JobItem, presentJob } from '../jobs/schemas.ts'
import { assetHoldRef } from './asset-job.ts'
import * as assets from './assets.ts'
import { getQuote } from './generator.ts'
import type { AssetRequest, GenerateAssetsRequest } from './schemas.ts'

const kind = 'assets'
/** Maximum wait for assets that the embedded generator makes. */
const inlineMs = 8 * second
const msPerItem = 2 * minute

interface Item {
  request: AssetRequest
  price: NanoUsd
  embedded: boolean
}

/**
 * Generates assets for the newest version (document 1, operation 16). Returns 202 with the job, 201
 * when all assets are done in time, or 200 with the prices for a dry run. Throws `busy`,
 * `price_above_max`, `paused`, and what `getAppWithAssets`, `quoteItems`, `enqueue` and `openHold`
 * throw.
 */
export async function generateAssets(
  ctx: AppContext,
  caller: Caller,
  id: string,
  body: GenerateAssetsRequest,
): Promise<Success> {
  const app = await assets.getAppWithAssets(ctx, caller.agent, id)
  apps.checkBuilt(app)
  const { ref, dryRun, ...same } = body
  const { maxCredits } = body
  const max = maxCredits === undefined ? undefined : parseCredits(maxCredits, 'maxCredits')
  if (dryRun) {
    const { items, price } = await quoteItems(ctx, app, body.assets)
    return completed({ items: items.map(presentItem), price: toCredits(price) })
  }
  let ms = 0
  const response = await pay(ctx, {
    who: { owner: caller.agent.id, key: ref, fingerprint: { id, ...same } },
    prepare: async () => {
      const { items, price } = await quoteItems(ctx, app, body.assets)
      if (max !== undefined && price > max) throw new ApiError('price_above_max', { price, max })
      if (items.every(({ embedded }) => embedded)) ms = inlineMs
      return {
        commit: async (db) => {
          const { job, maxCosts } = await insertJob(ctx, db, caller, { app, items, price })
          const note = 'Poll the job until it is done: GET /jobs/{id}?wait=30.'
          const held = toCredits(price)
          const body = { job: presentJob(ctx, job), items: items.map(presentItem), held, note }
          return { maxCosts, response: accepted(body) }
        },
      }
    },
    replay: (stored) => stored,
  })
  ctx.jobs.wake()
  return waitInline(ctx, response, ms)
}

/** Throws `bad_request`, `too_many_assets`, `no_painter` and `no_voice`. */
async function quoteItems(
  ctx: AppContext,
  app: apps.App,
  requested: GenerateAssetsRequest['assets'],
) {
  const rows = await assets.listAssets(ctx, app.id, app.version)
  const requests = requested === 'waiting' ? await assets.listMissing(ctx, app, rows) : requested
  const names = new Set(requests.map(({ name }) => name))
  if (requests.length === 0)
    rejectRequest('The page requests no missing assets. List the assets to generate.')
  if (names.size < requests.length)
    rejectRequest('Two of the assets have the same name. Give each a name of its own.')
  for (const one of requests) checkTexts(one)
  const existing = new Set(rows.map(({ name }) => name))
  const { size: files } = existing.union(names)
  const { files: max } = await assets.limitsOf(ctx, ctx.db.read, app)
  if (files > max) throw new ApiError('too_many_assets', { files, max })
  const items = requests.map((one): Item => {
    const { by, price } = getQuote(ctx, one)
    return { request: one, price, embedded: by === undefined }
  })
  return { items, price: nano(items.reduce((sum, item) => sum + item.price, 0n)) }
}

function checkTexts({ name, what, voice = '' }: AssetRequest): void {
  assets.checkAssetName(name)
  const isVoice = isPlainLine(voice, assetVoiceCharsMax)
  if (isPlainText(what, assetPromptCharsMax) && isVoice) return
  rejectRequest(
    isVoice
      ? `"what" must be plain text of at most ${assetPromptCharsMax} characters.`
      : `"voice" must be one plain line of at most ${assetVoiceCharsMax} characters.`,
    'assets',
  )
}

const presentItem = ({ request: { name, kind: assetKind }, price }: Item): JobItem => ({
  name,
  kind: assetKind,
  price: toCredits(price),
  state: 'held',
})

/** Enqueues the job, inside a transaction, and returns the maximum cost of each item. */
async function insertJob(
  ctx: AppContext,
  db: Db,
  caller: Caller,
  { app, items, price }: { app: apps.App; items: Item[]; price: NanoUsd },
): Promise<{ job: Job; maxCosts: HoldRequest[] }> {
  const cap = capFor(caller, price)
  const account = agentAccount(caller.agent.id)
  // Checks the total first, so that the error names the total and not one item.
  const available = availableOf(await findBalance(db, account), 'any')
  if (price > available) throw new ApiError('not_enough_credits', { needed: price, available })
  await checkDailyCap(db, cap, price, ctx.clock.now())
  const ms = 10 * minute + items.length * msPerItem
  const input = items.map(({ request }) => request)
  const work = { kind, queue: 'assets', owner: account, item: app.id, input, price, ms } as const
  const job = await enqueue(ctx, db, work)
  // The app may have been deleted, or the account closed, since the request.
  await apps.lockApp(ctx, db, app)
  const same = { account, kind, item: app.id, job: job.id, cap, ms: 2 * ms }
  const maxCosts = items.map((item, index): HoldRequest => {
    const ref = assetHoldRef(job.id, index)
    return { ...same, amount: item.price, ref }
  })
  return { job, maxCosts }
}

/** Returns the finished job, or the unchanged response when the job takes longer. */
async function waitInline(ctx: AppContext, response: Success, ms: number): Promise<Success> {
  const { id } = recordOf(recordOf(response.value)['job'])
  const job = await ctx.jobs.waitFor(String(id), { seen: Infinity, ms })
  if (job?.ended == null) return response
  const presented = presentJob(ctx, job)
  const { items = [] } = presented
  const note = items.every(({ state }) => state === 'made')
    ? 'All assets are live on the newest version: GET /apps/{id}/assets lists them.'
    : 'Failed items have a code and were not charged. GET /apps/{id}/assets lists the live assets.'
  return created({ job: presented, items, held: 0, note })
}
