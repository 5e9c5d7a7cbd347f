import { Value } from '@sinclair/typebox/value'

import type { AppContext } from '../../../context.ts'
import { fromCredits, formatCredits, type NanoUsd, percentOf, toCredits, zero } from '../../../core/money.ts'
import { iso } from '../../../core/time.ts'
import type { Db } from '../../../db/engine.ts'
import { ApiError } from '../../../errors.ts'
import type { StoredResponse, StoreResponse } from '../../../idempotency/idempotency.ts'
import { capOf } from '../../../keys/keys.ts'
import { agentAccount } from '../../../ledger/accounts.ts'
import * as ledger from '../../../ledger/ledger.ts'
import { makerSharePercent } from '../../../prices.ts'
import type { Agent } from '../../agents/agents.ts'
import { findHandles } from '../../agents/agents.ts'
import { checkNotPaused } from '../../agents/spending.ts'
import { reserveBytes } from '../../agents/storage-quota.ts'
import { appUrl } from '../../app-url.ts'
import type { Caller } from '../../authentication.ts'
import { notOnExplore } from '../../explore/explore.ts'
import { notify } from '../../notifications/notifications.ts'
import * as apps from '../apps.ts'
import * as assets from '../assets/assets.ts'
import { insertApp } from '../new-app.ts'
import * as pages from '../page-content.ts'
import { presentApp } from '../present.ts'
import { countRemix, noteRemix } from './lineage.ts'
import {
  type RemixRecord,
  RemixRecordSchema,
  type RemixRequest,
  type RemixResponse,
} from './schemas.ts'

/** A remix request with its original. */
interface Asked {
  caller: Caller
  /** The original at the time of the scan. */
  original: apps.App
  wanted: RemixRequest
  /** Handle of the maker of the original. */
  maker: string
}

/** Deadline of the hold, which the same transaction settles. */
const holdMs = 60_000

/**
 * Copies an app from Explore, or an own app (document 1, operation 12). The copy, its payment and
 * the idempotent response are one transaction. Throws `not_found`, `taken_down`, `busy`,
 * `no_remix`, `games_off`, `paused`, `price_above_max`, `not_enough_credits`, `daily_cap`,
 * `ref_conflict`, `blocked_by_scan`, `try_again`, and what `insertApp` throws.
 */
export async function remix(
  ctx: AppContext,
  caller: Caller,
  id: string,
  wanted: RemixRequest,
): Promise<RemixResponse> {
  const { agent } = caller
  const request = { remix: id, ...wanted }
  const { body } = await ctx.idempotency.run(agent.id, wanted.ref, request, async (keep) => {
    for (let tries = 1; ; tries += 1) {
      try {
        return await copyNow(ctx, { caller, id, wanted, keep })
      } catch (error) {
        if (!(error instanceof Outdated) || tries === triesMax) throw error
      }
    }
  })
  if (!Value.Check(RemixRecordSchema, body)) throw new Error('a remembered remix of another shape')
  const copied = await apps.findApp(ctx, body.app.id)
  if (copied?.takenDown != null) apps.requireAvailable(copied)
  // The stored response has no page; the copy has it.
  const made = await apps.getVersion(ctx, body.app.id, 1)
  const { identity } = await pages.readPage(ctx, made)
  return { ...body, html: new TextDecoder('utf-8', { ignoreBOM: true }).decode(identity) }
}

/** The maker published a new version during the scan. The remix is tried again with it. */
class Outdated extends ApiError<'try_again'> {
  constructor() {
    super('try_again', { why: 'a new version was published meanwhile' })
  }
}

const triesMax = 5

interface Wanted {
  caller: Caller
  id: string
  wanted: RemixRequest
  keep: StoreResponse
}

/** Scans the visible version and copies it. Throws OutdatedVersionError. */
async function copyNow(
  ctx: AppContext,
  { caller, id, wanted, keep }: Wanted,
): Promise<StoredResponse> {
  const { agent } = caller
  const original = await theOriginal(ctx, agent, id)
  const maker = (await findHandles(ctx, [original.maker])).get(original.maker) ?? ''
  const asked = { caller, original, wanted, maker }
  priceFor(ctx, asked)
  const version = await apps.getVersion(ctx, id, shownTo(agent, original))
  // Rules may be newer than the page.
  await pages.inspectPage(ctx, (await pages.readPage(ctx, version)).identity, agent.id)
  return ctx.db.tx(async (db) => {
    const done = await copy(ctx, db, asked, version)
    const answer = { status: 201, body: done }
    await keep(db, answer)
    return answer
  })
}

const isOwn = (agent: Agent, app: apps.App): boolean => app.maker === agent.id

/** Returns the version to copy: the newest for its maker, the visible one for others. */
const shownTo = (agent: Agent, app: apps.App): number =>
  isOwn(agent, app) ? app.version : apps.visibleVersion(app)

async function theOriginal(ctx: AppContext, agent: Agent, id: string): Promise<apps.App> {
  const app = open(agent, await apps.findApp(ctx, id))
  apps.checkBuilt(app)
  if (app.kind === 'game' && !ctx.config.gamesOn) throw new ApiError('games_off')
  return app
}

/** Returns an app that this agent may copy. Throws `not_found` and `taken_down`. */
function open(agent: Agent, app: apps.App | undefined): apps.App {
  if (app?.closed === null && app.takenDown !== null) return apps.requireAvailable(app)
  if (app && (isOwn(agent, app) ? app.closed === null : app.listed === 'on')) return app
  throw notOnExplore()
}

/**
 * Returns the price for the caller; zero for an own app. Throws `no_remix`, `paused` and
 * `price_above_max`.
 */
function priceFor(ctx: AppContext, { caller: { agent }, original, wanted }: Asked): NanoUsd {
  if (isOwn(agent, original) || original.remix === 'free') return zero
  if (original.remix === 'off' || !ctx.config.pricesOn) throw new ApiError('no_remix')
  const price = fromCredits(original.priceRemix ?? 0)
  const { maxCredits } = wanted
  const max = maxCredits === undefined ? price : fromCredits(maxCredits)
  checkNotPaused(agent)
  if (price > max) throw new ApiError('price_above_max', { price, max })
  return price
}

/** Inserts the copy with its assets and lineage and pays for it, inside a transaction. */
async function copy(
  ctx: AppContext,
  db: Db,
  asked: Asked,
  page: apps.Version,
): Promise<RemixRecord> {
  const { caller, wanted, maker } = asked
  const { agent } = caller
  const { kind, title, description, shelf, id: of } = asked.original
  const terms = { listed: 'off', remix: 'free', priceRemix: null } as const
  const origin = { remixOf: of, remixOfTitle: title, remixOfMaker: maker }
  const about = { kind, title, description, shelf, ...terms, ...origin }
  const made = await insertApp(ctx, db, agent, about, page)
  const files = await assets.copyAssets(db, page, { app: made.id, version: 1 })
  const contents = new Map(files.map(({ sha256, bytes }) => [sha256, bytes]))
  await reserveBytes(
    ctx,
    db,
    agent.id,
    contents.values().reduce((sum, bytes) => sum + bytes, 0),
  )
  // Counting locks the original. The current price and version apply.
  const original = open(agent, await countRemix(db, of, isOwn(agent, asked.original), agent.id))
  if (shownTo(agent, original) !== page.version) throw new Outdated()
  const price = priceFor(ctx, { ...asked, original })
  if (price > 0n) await pay(ctx, db, { caller, original, price, ref: `remix:${made.id}` })
  const at = ctx.clock.now()
  const sold = { of, version: page.version, title, maker, price, at }
  await noteRemix(db, { ...sold, app: made.id, buyer: agent.id })
  if (!isOwn(agent, original)) await tellMaker(ctx, db, { agent, original, price, copy: made.id })
  return {
    app: presentApp(ctx, made),
    bought: {
      item: of,
      version: page.version,
      title,
      maker: `@${maker}`,
      credits: toCredits(price),
      makerCredits: toCredits(percentOf(price, makerSharePercent)),
      ref: wanted.ref ?? null,
      at: iso(at),
    },
    note: noteOf(ctx, made, `@${maker}`, price),
  }
}

interface Sale {
  caller: Caller
  original: apps.App
  price: NanoUsd
  ref: string
}

/**
 * Holds and settles the price in one transaction, so that the maker's share is an earning
 * (docs/spec/money.md).
 */
async function pay(ctx: AppContext, db: Db, { caller, original, price, ref }: Sale): Promise<void> {
  const { agent, key } = caller
  const maker = agentAccount(original.maker)
  const { hold } = await ledger.openHold(ctx, db, {
    account: agentAccount(agent.id),
    amount: price,
    ref,
    kind: 'remix',
    item: original.id,
    ms: holdMs,
    shares: [{ account: maker, percent: makerSharePercent }],
    cap: capOf(key),
  })
  await ledger.settleHold(ctx, db, hold, price)
}

interface Taken {
  agent: Agent
  original: apps.App
  price: NanoUsd
  copy: string
}

/** Notifies the maker of the remix and its earning. */
async function tellMaker(ctx: AppContext, db: Db, { agent, original, price, copy }: Taken) {
  const { id: item, maker: to, title } = original
  const earned = percentOf(price, makerSharePercent)
  const data = { copy, price: toCredits(price), credits: toCredits(earned) }
  const who = { to, item, actor: agent.handle, data }
  const text = `@${agent.handle} remixed “${title}”`
  await (price > 0n
    ? notify(ctx, db, {
        ...who,
        kind: 'remix.sold',
        text: `${text}: ${formatCredits(earned)} credits are yours.`,
      })
    : notify(ctx, db, { ...who, kind: 'remix.made', text: `${text}.` }))
}

function noteOf(ctx: AppContext, made: apps.App, maker: string, price: NanoUsd): string {
  const paid = price > 0n ? `for ${formatCredits(price)} credits` : 'for free'
  return (
    `Copied ${paid}, with its files; ${maker} is credited. Your copy is at ` +
    `${appUrl(ctx, made.id)}, off Explore. POST /apps/${made.id}/versions changes it.`
  )
}
