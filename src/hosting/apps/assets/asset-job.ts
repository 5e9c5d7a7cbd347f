import { type Static, Type } from '@sinclair/typebox'

import type { AppContext } from '../../../context.ts'
import { sha256 } from '../../../core/ids.ts'
import { nano, type NanoUsd, toCredits } from '../../../core/money.ts'
import type { Db } from '../../../db/engine.ts'
import { ApiError } from '../../../errors.ts'
import type { Handler, Job, Outcome, Work } from '../../../jobs/handler.ts'
import type { Hold } from '../../../ledger/holds.ts'
import { openHoldsOf } from '../../../ledger/job-holds.ts'
import { release, settle } from '../../../ledger/ledger.ts'
import * as apps from '../apps.ts'
import { JobItems, type JobItemShape } from '../../jobs/schemas.ts'
import { NoAnswer } from '../../models/model-call.ts'
import { type Asset, findIn, keepRow } from './assets.ts'
import { makeOne } from './generator.ts'
import { AssetAsk, type AssetAskShape } from './schemas.ts'

const Input = Type.Array(AssetAsk)
type Ask = AssetAskShape

/** The name of an item's hold; they sort as the items do. */
export const refOf = (job: string, index: number): string =>
  `assets:${job}:${String(index).padStart(3, '0')}`

/** How a job of assets is done: one after another, each landed and settled before the next. */
export const assetsHandler = (ctx: AppContext): Handler<typeof Input, typeof JobItems> => ({
  lane: 'assets',
  input: Input,
  data: JobItems,
  async run(work): Promise<Outcome> {
    const { input, job } = work
    const holds = new Map((await openHoldsOf(ctx.db.read, job.id)).map((one) => [one.ref, one]))
    const items =
      work.data?.items ?? input.map((ask, at) => fresh(ask, holds.get(refOf(job.id, at))))
    await work.note({ step: 'assets', data: { items } })
    for (const [index, ask] of input.entries()) {
      const [item, hold] = [items[index], holds.get(refOf(job.id, index))]
      if (item?.state !== 'held' || !hold) continue
      const code = await land(ctx, work, { ask, hold, items, item })
      if (code !== undefined) {
        Object.assign(item, { state: 'failed', code })
        await work.note(progressOf(items), (db) => release(db, hold))
      }
    }
    return outcomeOf(ctx, job, items)
  },
})

const fresh = ({ name, kind }: Ask, hold: Hold | undefined): JobItemShape => ({
  name,
  kind,
  state: 'held',
  price: toCredits(hold?.amount ?? 0n),
})

const progressOf = (items: JobItemShape[]) => ({
  progress: items.filter(({ state }) => state !== 'held').length / items.length,
  data: { items },
})

interface Landing {
  ask: Ask
  hold: Hold
  items: JobItemShape[]
  item: JobItemShape
}

/** Makes one and keeps it: the row, the charge and the word of it together. Answers why not. */
async function land(
  ctx: AppContext,
  { job, signal, note }: Work<unknown, Static<typeof JobItems>>,
  { ask, hold, items, item }: Landing,
): Promise<string | undefined> {
  const made = await makeFor(ctx, job.item ?? '', ask, signal)
  if ('code' in made) return made.code
  const app = await apps.find(ctx, made.row.app)
  const landed: JobItemShape = { ...item, state: 'made', maker: made.row.maker }
  const all = items.map((one) => (one === item ? landed : one))
  try {
    await note(progressOf(all), async (db) => {
      await keepRow(ctx, db, apps.there(app), made.row)
      await settle(ctx, db, hold, made.charge)
    })
    Object.assign(item, landed)
    return undefined
  } catch (error) {
    if (error instanceof ApiError) return error.errorName
    throw error
  }
}

/** A made file whose bytes are kept, to be named by the row. */
export interface FreshAsset {
  row: Omit<Asset, 'version'>
  charge: NanoUsd
}

/** Makes a file for an app and keeps its bytes, or answers the code of why it cannot. */
export async function makeFor(
  ctx: AppContext,
  app: string,
  ask: AssetAskShape,
  signal: AbortSignal,
): Promise<FreshAsset | { code: string }> {
  const { name, kind, what, seed = seedOf(app, name) } = ask
  try {
    const { bytes, charge, ...rest } = await makeOne(ctx, { ...ask, seed }, signal)
    const stored = await ctx.storage.put(bytes)
    const own = { app, name, sha256: stored.sha256, kind, bytes: bytes.length, what, seed }
    return { row: { ...own, ...rest, created: ctx.clock.now() }, charge }
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof ApiError) return { code: error.errorName }
    if (!(error instanceof NoAnswer)) throw error
    ctx.log.warn('assets.no_answer', { app, kind, why: error.message })
    return { code: kind === 'sprite' || kind === 'picture' ? 'no_picture' : 'no_sound' }
  }
}

/**
 * Keeps what a build made for its version, inside a transaction, but for what its maker has sent
 * under the same names meanwhile. Answers what that cost.
 */
export async function keepMade(
  ctx: AppContext,
  db: Db,
  app: apps.App,
  files: FreshAsset[],
): Promise<NanoUsd> {
  let unused = 0n
  for (const { row, charge } of files) {
    if (await findIn(db, app.id, app.version, row.name)) unused += charge
    else await keepRow(ctx, db, app, row)
  }
  return nano(unused)
}

/** Another name in another app is another one, and the same again the same. */
const seedOf = (app: string, name: string): number =>
  Number.parseInt(sha256(`${app}/${name}`).slice(0, 7), 16)

async function outcomeOf(ctx: AppContext, job: Job, items: JobItemShape[]): Promise<Outcome> {
  const app = await apps.find(ctx, job.item ?? '')
  if (app && items.some(({ state }) => state === 'made')) {
    return { end: 'done', record: async () => ({ version: app.version }) }
  }
  const code = items[0]?.code ?? 'no_picture'
  const error = 'None of the assets could be made; nothing was charged. The items tell why.'
  return { end: 'failed', error: { code, error } }
}
