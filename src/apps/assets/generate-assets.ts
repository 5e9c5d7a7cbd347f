import { type Static, Type } from '@sinclair/typebox'

import type { Handler, Job, JobRun, Outcome } from '../../jobs/handlers.ts'
import { enqueue } from '../../jobs/jobs.ts'
import type { AppContext } from '../../kernel/context.ts'
import type { Db } from '../../kernel/db/engine.ts'
import { ApiError, rejectRequest } from '../../kernel/errors.ts'
import { accepted, completed, created, type Success } from '../../kernel/http/outcome.ts'
import { sha256 } from '../../kernel/ids.ts'
import { assetPromptCharsMax, assetVoiceCharsMax } from '../../kernel/limits.ts'
import { nano, type NanoUsd, parseCredits, toCredits } from '../../kernel/money.ts'
import { recordOf } from '../../kernel/schema.ts'
import { isPlainLine, isPlainText } from '../../kernel/text.ts'
import { minute, second } from '../../kernel/time.ts'
import { agentAccount, availableOf, findBalance } from '../../money/ledger/accounts.ts'
import { checkDailyCap, type Hold, type HoldRequest } from '../../money/ledger/holds.ts'
import { listOpenHolds, releaseHold, settleHold } from '../../money/ledger/ledger.ts'
import { pay } from '../../money/pay.ts'
import { type Caller, capFor } from '../../people/agents/spending.ts'
import * as apps from '../apps.ts'
import { type JobItem, JobItemsSchema, presentJob } from '../jobs/schemas.ts'
import { NoModelResult } from '../model-call.ts'
import * as assets from './assets.ts'
import { findAsset, reserveAsset, storeRow } from './assets.ts'
import { generateContent, getQuote } from './generator.ts'
import { type AssetRequest, AssetRequestSchema, type GenerateAssetsRequest } from './schemas.ts'
import type { AssetRow } from './upload.ts'

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

const Input = Type.Array(AssetRequestSchema)

/** Returns the ref of an item's hold. Refs sort like the items. */
export const assetHoldRef = (job: string, index: number): string =>
  `assets:${job}:${String(index).padStart(3, '0')}`

/** Runs a job of assets. Each asset is published and settled before the next one starts. */
export const assetsHandler = (ctx: AppContext): Handler<typeof Input, typeof JobItemsSchema> => ({
  input: Input,
  data: JobItemsSchema,
  async run(work): Promise<Outcome> {
    const { input, job } = work
    const holds = new Map((await listOpenHolds(ctx.db.read, job.id)).map((one) => [one.ref, one]))
    const items =
      work.data?.items ??
      input.map((request, at) => newItem(request, holds.get(assetHoldRef(job.id, at))))
    await work.report({ step: 'assets', data: { items } })
    for (const [index, request] of input.entries()) {
      const [item, hold] = [items[index], holds.get(assetHoldRef(job.id, index))]
      if (item?.state !== 'held' || !hold) continue
      const code = await publishAsset(ctx, work, { request, hold, items, item })
      if (code !== undefined) {
        Object.assign(item, { state: 'failed', code })
        await work.report(progressOf(items), (db) => releaseHold(db, hold))
      }
    }
    return outcomeOf(ctx, job, items)
  },
})

const newItem = ({ name, kind }: AssetRequest, hold: Hold | undefined): JobItem => ({
  name,
  kind,
  state: 'held',
  price: toCredits(hold?.amount ?? 0n),
})

const progressOf = (items: JobItem[]) => ({
  progress: items.filter(({ state }) => state !== 'held').length / items.length,
  data: { items },
})

interface AssetTask {
  request: AssetRequest
  hold: Hold
  items: JobItem[]
  item: JobItem
}

async function publishAsset(
  ctx: AppContext,
  { job, signal, report }: JobRun<unknown, Static<typeof JobItemsSchema>>,
  { request, hold, items, item }: AssetTask,
): Promise<string | undefined> {
  const app = apps.requireAvailable(await apps.findApp(ctx, job.item ?? ''))
  const generated = await generateAsset(ctx, app, request, signal)
  if ('code' in generated) return generated.code
  const finished: JobItem = { ...item, state: 'made', maker: generated.row.maker }
  const all = items.map((one) => (one === item ? finished : one))
  try {
    await report(progressOf(all), async (db) => {
      await storeRow(ctx, db, app, generated.row)
      await settleHold(ctx, db, hold, generated.charge)
    })
    Object.assign(item, finished)
    return undefined
  } catch (error) {
    if (error instanceof ApiError) return error.errorName
    throw error
  } finally {
    generated.end()
  }
}

/** A generated file whose bytes are stored. Its row is not. */
export interface GeneratedAsset {
  row: AssetRow
  charge: NanoUsd
  /** Ends the reservation of its bytes. */
  end(): void
}

/** Generates a file for an app, reserves and stores its bytes, or returns an error code. */
export async function generateAsset(
  ctx: AppContext,
  app: apps.App,
  request: AssetRequest,
  signal: AbortSignal,
): Promise<GeneratedAsset | { code: string }> {
  const { name, kind, what, seed = seedOf(app.id, name) } = request
  try {
    const { bytes, charge, ...rest } = await generateContent(ctx, { ...request, seed }, signal)
    const end = await reserveAsset(ctx, app, name, bytes)
    const stored = await ctx.storage.put(bytes).catch((error: unknown) => {
      end()
      throw error
    })
    const own = { name, sha256: stored.sha256, kind, bytes: bytes.length, what, seed }
    const variants = { br: null, zstd: null }
    return { row: { ...own, ...rest, ...variants, created: ctx.clock.now() }, charge, end }
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof ApiError) return { code: error.errorName }
    if (!(error instanceof NoModelResult)) throw error
    ctx.log.warn('assets.no_answer', { app: app.id, kind, why: error.message })
    return { code: kind === 'sprite' || kind === 'picture' ? 'no_picture' : 'no_sound' }
  }
}

/** Stores the assets of a build, except names uploaded during it. Returns the charge of those. */
export async function storeBuildAssets(
  ctx: AppContext,
  db: Db,
  app: apps.App,
  files: GeneratedAsset[],
): Promise<NanoUsd> {
  let unused = 0n
  for (const { row, charge } of files) {
    if (await findAsset(db, app.id, app.version, row.name)) unused += charge
    else await storeRow(ctx, db, app, row)
  }
  return nano(unused)
}

const seedOf = (app: string, name: string): number =>
  Number.parseInt(sha256(`${app}/${name}`).slice(0, 7), 16)

async function outcomeOf(ctx: AppContext, job: Job, items: JobItem[]): Promise<Outcome> {
  const app = await apps.findApp(ctx, job.item ?? '')
  if (app && items.some(({ state }) => state === 'made')) {
    return { end: 'done', record: async () => ({ version: app.version }) }
  }
  const code = items[0]?.code ?? 'no_picture'
  const error =
    'The model generated no asset. Nothing was charged. Check the code of each item, and try again.'
  return { end: 'failed', error: { code, error } }
}
