import { type Static, Type } from '@sinclair/typebox'

import { toCredits } from '../../core/money.ts'
import type { House } from '../../house.ts'
import type { Handler, Job, Outcome, Work } from '../../jobs/handler.ts'
import type { Hold } from '../../ledger/holds.ts'
import { openHoldsOf } from '../../ledger/job-holds.ts'
import { release, settle } from '../../ledger/ledger.ts'
import { Refusal } from '../../refusals.ts'
import * as apps from '../apps/apps.ts'
import { JobItems, type JobItemShape } from '../jobs/shapes.ts'
import { NoAnswer } from '../models/chosen.ts'
import { type Asset, keepRow } from './assets.ts'
import { type MadeAsset, makeOne, quote } from './maker.ts'
import { AssetAsk } from './shapes.ts'

const Input = Type.Array(Type.Intersect([AssetAsk, Type.Object({ seed: Type.Integer() })]))
type Ask = Static<typeof Input>[number]

/** The name of an item's hold; they sort as the items do. */
export const refOf = (job: string, index: number): string =>
  `assets:${job}:${String(index).padStart(3, '0')}`

/** How a job of assets is done: one after another, each landed and settled before the next. */
export const assetsHandler = (house: House): Handler<typeof Input, typeof JobItems> => ({
  lane: 'assets',
  input: Input,
  data: JobItems,
  async run(work): Promise<Outcome> {
    const { input, job } = work
    const holds = new Map((await openHoldsOf(house.db.read, job.id)).map((one) => [one.ref, one]))
    const items =
      work.data?.items ?? input.map((ask, at) => fresh(ask, holds.get(refOf(job.id, at))))
    await work.note({ step: 'assets', data: { items } })
    for (const [index, ask] of input.entries()) {
      const [item, hold] = [items[index], holds.get(refOf(job.id, index))]
      if (item?.state !== 'held' || !hold) continue
      const code = await land(house, work, { ask, hold, items, item })
      if (code !== undefined) {
        Object.assign(item, { state: 'failed', code })
        await work.note(progressOf(items), (db) => release(db, hold.id))
      }
    }
    return outcomeOf(house, job, items)
  },
})

const fresh = ({ name, kind }: Ask, hold: Hold | undefined): JobItemShape => ({
  ...{ name, kind, state: 'held' },
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
  house: House,
  { job, signal, note }: Work<unknown, Static<typeof JobItems>>,
  { ask, hold, items, item }: Landing,
): Promise<string | undefined> {
  const before = { ...item }
  try {
    const made = await makeOne(house, ask, quote(house, ask), signal)
    const { sha256 } = await house.store.put(made.bytes)
    const app = apps.there(await apps.find(house, job.item ?? ''))
    Object.assign(item, { state: 'made', price: before.price })
    await note(progressOf(items), async (db) => {
      await keepRow(house, db, app, rowOf(house, app.id, ask, made, sha256))
      await settle(house, db, hold.id, made.charge)
    })
    return undefined
  } catch (error) {
    Object.assign(item, before)
    if (error instanceof Refusal) return error.refusal
    if (!(error instanceof NoAnswer)) throw error
    house.log.warn('assets.no_answer', { job: job.id, why: error.message })
    return ask.kind === 'sprite' || ask.kind === 'picture' ? 'no_picture' : 'no_sound'
  }
}

function rowOf(
  house: House,
  app: string,
  ask: Ask,
  made: MadeAsset,
  sha256: string,
): Omit<Asset, 'version'> {
  const { name, kind, what, seed } = ask
  const { bytes, type, width, height, lastsMs, maker } = made
  return {
    ...{ app, name, sha256, kind, type, bytes: bytes.length, width, height, lastsMs },
    ...{ what, seed, maker, created: house.clock.now() },
  }
}

async function outcomeOf(house: House, job: Job, items: JobItemShape[]): Promise<Outcome> {
  const app = await apps.find(house, job.item ?? '')
  if (app && items.some(({ state }) => state === 'made')) {
    return { end: 'done', result: { version: app.version } }
  }
  const code = items[0]?.code ?? 'no_picture'
  const error = 'None of the assets could be made; nothing was charged. The items tell why.'
  return { end: 'failed', error: { code, error } }
}
