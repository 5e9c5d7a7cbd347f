import { nano, type NanoUsd, zero } from '../core/money.ts'
import { type Clock, utcDay } from '../core/time.ts'
import type { Db, Engine } from '../db/engine.ts'
import { ApiError } from '../errors.ts'
import {
  accountOf,
  availableOf,
  type Balance,
  findBalance,
  giveBack,
  houseAccounts,
  isHouse,
  keepBack,
  openAccount,
  type Owner,
} from './accounts.ts'
import { type Cap, capPassed, count, type KeyDay, uncount, usedOn } from './caps.ts'
import { claim, end, type Hold, holdOf, keptBy, theHold, unclaim, unspent } from './holds.ts'
import { invariant } from './invariant.ts'
import { post } from './post.ts'
import type { AccountId, Part, Price } from './tables.ts'

/** Hears of every charge in its transaction: the hold as it ended, and what is left. */
export type Hear = (db: Db, charged: Hold, left: NanoUsd) => Promise<unknown>

/** What every verb that writes needs beside the caller's transaction. */
interface Clocked {
  clock: Clock
  onCharge?: Hear | undefined
}

/** Opens an owner's account, if it has none yet, inside the caller's transaction. */
export const open = (ctx: Clocked, db: Db, owner: Owner): Promise<AccountId> =>
  openAccount(db, owner, ctx.clock.now())

/** An owner's account as it stands, and what is available: balance - held. Throws without one. */
export async function balanceOf(
  ctx: { db: Engine },
  owner: Owner,
): Promise<Balance & { available: NanoUsd }> {
  const found = await findBalance(ctx.db.read, accountOf(owner))
  if (!found) throw new Error(`There is no account ${accountOf(owner)}.`)
  return { ...found, available: availableOf(found, 'any') }
}

/** What a key has spent today (UTC): settled and held. */
export const spentToday = (ctx: Clocked & { db: Engine }, key: string): Promise<NanoUsd> =>
  usedOn(ctx.db.read, { key, day: utcDay(ctx.clock.now()) })

/** A movement between accounts that is done at once. Amounts are Nano above zero. */
export interface Transfer {
  from: AccountId
  to: { account: AccountId; amount: NanoUsd }[]
  /** The unique name of what it pays for. */
  ref: string
  kind: string
  item?: string
  /** From an account of the house: whether it gives free credits, which are never paid out. */
  free?: boolean
}

/** Whether this call did it, and when it was done. */
export interface Done {
  fresh: boolean
  at: number
}

/**
 * Moves credits inside the caller's transaction; what was received was not earned. The same
 * transfer again answers the first one. Refuses not_enough_credits, ref_conflict.
 */
export async function transfer(ctx: Clocked, db: Db, wanted: Transfer): Promise<Done> {
  const { from, to, ref, kind, item, free = false } = wanted
  const at = ctx.clock.now()
  const amount = nano(to.reduce((sum, part) => sum + part.amount, 0n))
  invariant(to.length > 0 && to.every((part) => part.amount > 0n), 'a transfer moves something')
  const parts: Part[] = to.map((part) => ({ ...part, amount: String(part.amount) }))
  const held = holdOf(at, { account: from, amount, ref, kind, item, ms: 0 })
  const hold: Hold = { ...held, state: 'settled', charged: amount, parts }
  const twin = await claim(db, hold)
  if (twin) return { fresh: false, at: twin.at }
  const freeMax = isHouse(from) && !free ? zero : amount
  const kept = { amount: zero, paid: zero }
  const left = await post(db, hold, { freeMax, kept, earns: false, at })
  if (left !== undefined) {
    await ctx.onCharge?.(db, hold, left)
    return { fresh: true, at }
  }
  await unclaim(db, hold)
  throw await notEnough(db, hold)
}

/** Credits made by the house. `free` (the default) can be spent and never paid out. */
export interface Grant {
  account: AccountId
  amount: NanoUsd
  ref: string
  kind: string
  item?: string
  free?: boolean
}

/** Gives credits from the house's issue account, once for each ref, as `transfer` does. */
export function grant(ctx: Clocked, db: Db, wanted: Grant): Promise<Done> {
  const { account, amount, free = true, ...rest } = wanted
  return transfer(ctx, db, {
    ...rest,
    from: houseAccounts.issue,
    to: [{ account, amount }],
    free,
  })
}

/** Opens an owner's account, if it has none, and grants to it, in a transaction of its own. */
export const grantTo = (
  ctx: Clocked & { db: Engine },
  owner: Owner,
  wanted: Omit<Grant, 'account'>,
): Promise<Done> =>
  ctx.db.tx(async (db) => grant(ctx, db, { ...wanted, account: await open(ctx, db, owner) }))

/** What a hold is asked for with. */
export interface Ask {
  account: AccountId
  /** The worst case: the most the work can cost. */
  amount: NanoUsd
  /** The unique name of what is paid for; a released ref may be held again. */
  ref: string
  /** What kind of work it is: build, chat, remix ... */
  kind: string
  item?: string | undefined
  /** `paid`: free credits may not pay for it. Default any, free ones first. */
  funds?: 'any' | 'paid' | undefined
  /** Who else gets a share, in percent of the charge; the remainder is the house's. */
  shares?: { account: AccountId; percent: number }[] | undefined
  /** The price row the worst case was computed with. */
  price?: Price | undefined
  /** The key that pays and its daily cap. */
  cap?: Cap | undefined
  /** What becomes of it when nobody ends it by its deadline: given back, or charged whole. */
  onExpiry?: 'release' | 'settle' | undefined
  /** The job that does the work: the hold is left to it when this process dies (job-holds.ts). */
  job?: string | undefined
  /** How long the work may take. */
  ms: number
}

/** What else is kept of a settlement, written in its transaction. */
export type Note = (db: Db, ended: Hold) => Promise<unknown>

/** A hold and whether this call made it. */
export interface Held {
  hold: Hold
  fresh: boolean
}

/**
 * Keeps the worst case back, inside the caller's transaction. The same ask again answers the first
 * hold. Refuses ref_conflict, not_enough_credits, daily_cap (in this order; nothing is kept then).
 */
export async function hold(ctx: Clocked, db: Db, ask: Ask): Promise<Held> {
  const made = holdOf(ctx.clock.now(), ask)
  const twin = await claim(db, made)
  if (twin) return { hold: twin, fresh: false }
  if (!(await keepBack(db, made.account, keptBy(made)))) {
    await unclaim(db, made)
    throw await notEnough(db, made)
  }
  const at = keyDayOf(made)
  if (at && !(await count(db, at, made.amount, ask.cap?.max ?? null))) {
    invariant(await giveBack(db, made.account, keptBy(made)), 'what was kept can be given back')
    await unclaim(db, made)
    throw await capPassed(db, at, ask.cap?.max ?? zero, made.at)
  }
  return { hold: made, fresh: true }
}

/**
 * Charges an open hold, inside the caller's transaction, clamped to 0 <= charge <= hold. A hold
 * that has ended already answers as it ended and moves nothing: look at its `state` and `charged`.
 * `note` is called only when this call ended it.
 */
export async function settle(
  ctx: Clocked,
  db: Db,
  hold: Hold,
  charge: NanoUsd,
  note?: Note,
): Promise<Hold> {
  const ended = await end(db, hold, 'settled', charge)
  if (!ended) return theHold(db, hold)
  invariant(ended.charged >= 0n && ended.charged <= ended.amount, '0 <= charge <= hold')
  if (ended.charged > 0n) {
    const freeMax = ended.funds === 'any' ? ended.charged : zero
    const at = ctx.clock.now()
    const left = await post(db, ended, { freeMax, kept: keptBy(ended), earns: true, at })
    if (left === undefined) throw new Error('what is held can be paid')
    await ctx.onCharge?.(db, ended, left)
  } else
    invariant(await giveBack(db, ended.account, keptBy(ended)), 'what was kept can be given back')
  await uncountUnspent(db, ended)
  await note?.(db, ended)
  return ended
}

/** Gives an open hold back, inside the caller's transaction. One that has ended stays so. */
export async function release(db: Db, hold: Hold): Promise<Hold> {
  const ended = await end(db, hold, 'released')
  if (!ended) return theHold(db, hold)
  invariant(ended.charged === 0n, 'a release charges nothing')
  invariant(await giveBack(db, ended.account, keptBy(ended)), 'what was kept can be given back')
  await uncountUnspent(db, ended)
  return ended
}

const keyDayOf = ({ capKey: key, capDay: day }: Hold): KeyDay | undefined =>
  key !== null && day !== null ? { key, day } : undefined

async function uncountUnspent(db: Db, ended: Hold): Promise<void> {
  const at = keyDayOf(ended)
  if (at) await uncount(db, at, unspent(ended))
}

async function notEnough(db: Db, { account, amount, funds }: Hold): Promise<ApiError> {
  const balance = await findBalance(db, account)
  const available = availableOf(balance, funds)
  const free = availableOf(balance, 'any') - available
  return new ApiError('not_enough_credits', { needed: amount, available, free })
}
