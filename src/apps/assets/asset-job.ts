import { type Static, Type } from '@sinclair/typebox'

import type { Handler, Job, JobRun, Outcome } from '../../jobs/handlers.ts'
import type { AppContext } from '../../kernel/context.ts'
import type { Db } from '../../kernel/db/engine.ts'
import { ApiError } from '../../kernel/errors.ts'
import { sha256 } from '../../kernel/ids.ts'
import { nano, type NanoUsd, toCredits } from '../../kernel/money.ts'
import type { Hold } from '../../money/ledger/holds.ts'
import { listOpenHolds, releaseHold, settleHold } from '../../money/ledger/ledger.ts'
import * as apps from '../apps.ts'
import { type JobItem, JobItemsSchema } from '../jobs/schemas.ts'
import { NoModelResult } from '../model-call.ts'
import { findAsset, reserveAsset, storeRow } from './assets.ts'
import { generateContent } from './generator.ts'
import { type AssetRequest, AssetRequestSchema } from './schemas.ts'
import type { AssetRow } from './upload.ts'

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
