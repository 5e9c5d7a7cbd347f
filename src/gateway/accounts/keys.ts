import type { AppContext } from '../../context.ts'
import { nanoOf, type NanoUsd, toCredits } from '../../core/money.ts'
import { iso } from '../../core/time.ts'
import type { Db } from '../../db/engine.ts'
import { ApiError } from '../../errors.ts'
import * as keys from '../../keys/keys.ts'
import { keysPerAccountMax, keysPerAgentMax } from '../../limits.ts'
import type { KeySpender } from '../authentication.ts'
import type { KeyResponse } from './schemas.ts'

/** What a key is made with, or changed to; daily_cap is in credits, null is none. */
interface KeyParams {
  name?: string | undefined
  daily_cap?: number | null | undefined
}

/** The cap asked for. Refuses cap_above_own: a capped key raises no cap, not even its own. */
function capOf(key: keys.Key, credits: number | null | undefined): NanoUsd | null | undefined {
  if (credits === undefined) return undefined
  const cap = credits === null ? null : nanoOf(credits, 'daily_cap')
  if (key.dailyCap !== null && (cap === null || cap > key.dailyCap)) {
    throw new ApiError('cap_above_own', { cap: key.dailyCap })
  }
  return cap
}

const present = (key: keys.Key, current: keys.Key): KeyResponse => ({
  id: key.prefix,
  prefix: key.prefix,
  name: key.name,
  daily_cap: key.dailyCap === null ? null : toCredits(key.dailyCap),
  created: iso(key.created),
  current: key.prefix === current.prefix,
})

/**
 * Changes the account's keys in a transaction of their own, one change at a time. The key that asks
 * is read again in it: it may have been limited or revoked since its request began to arrive.
 * Refuses bad_key.
 */
async function change<T>(
  ctx: AppContext,
  { owner, key }: KeySpender,
  work: (db: Db, current: keys.Key, live: number) => Promise<T>,
): Promise<T> {
  const done = await ctx.db.tx(async (db) => {
    await keys.lockOwner(db, owner.owner)
    const live = await keys.list(db, owner.owner)
    const current = live.find(({ prefix }) => prefix === key.prefix)
    if (!current || current.suspended !== null) throw new ApiError('bad_key')
    return work(db, current, live.length)
  })
  ctx.keys.forget()
  return done
}

/** The account's live keys, oldest first. */
export async function list(
  ctx: AppContext,
  { owner, key: current }: KeySpender,
): Promise<KeyResponse[]> {
  const live = await keys.list(ctx.db.read, owner.owner)
  return live.map((key) => present(key, current))
}

/**
 * Makes another key; left out, its cap is that of the key that asks. `api_key` is shown once.
 * Refuses cap_above_own, and bad_request over the keys that an account, or an agent, may have.
 */
export async function add(
  ctx: AppContext,
  spender: KeySpender,
  wanted: KeyParams,
): Promise<KeyResponse & { api_key: string }> {
  const { owner } = spender
  keys.validateName(wanted.name)
  const { key, text } = await change(ctx, spender, (db, current, live) => {
    const cap = capOf(current, wanted.daily_cap)
    const dailyCap = cap === undefined ? current.dailyCap : cap
    const most = owner.kind === 'agent' ? keysPerAgentMax : keysPerAccountMax
    if (live >= most) {
      const problem = `There are at most ${most} keys. Revoke one first.`
      throw new ApiError('bad_request', { problem })
    }
    const made = { kind: current.kind, owner: owner.owner, name: wanted.name, dailyCap }
    return keys.create(db, ctx.clock, made)
  })
  return { ...present(key, spender.key), api_key: text }
}

/** Changes a key's name or cap. Refuses bad_request, not_found, cap_above_own. */
export async function edit(
  ctx: AppContext,
  spender: KeySpender,
  id: string,
  wanted: KeyParams,
): Promise<KeyResponse> {
  keys.validateName(wanted.name)
  const changed = await change(ctx, spender, (db, current) => {
    const dailyCap = capOf(current, wanted.daily_cap)
    return keys.update(db, spender.owner.owner, id, { name: wanted.name, dailyCap })
  })
  if (!changed) throw new ApiError('not_found', { what: 'key' })
  return present(changed, spender.key)
}

/** Revokes a key of the account. Refuses not_found, last_key. */
export const revoke = (ctx: AppContext, spender: KeySpender, id: string): Promise<void> =>
  change(ctx, spender, async (db, _, live) => {
    if (!(await keys.revoke(db, ctx.clock, spender.owner.owner, id))) {
      throw new ApiError('not_found', { what: 'key' })
    }
    if (live === 1) throw new ApiError('last_key')
  })
