import type { AppContext } from '../../context.ts'
import { type NanoUsd, parseCredits, toCredits } from '../../core/money.ts'
import { iso } from '../../core/time.ts'
import type { Db } from '../../db/engine.ts'
import { ApiError } from '../../errors.ts'
import * as keys from '../../keys/keys.ts'
import { keysPerAccountMax, keysPerAgentMax } from '../../limits.ts'
import type { KeySpender } from '../authentication.ts'
import type { KeyParams, KeyResponse } from './schemas.ts'

/** Converts a requested cap. Throws `cap_above_own` above the cap of the calling key. */
function readCap(key: keys.Key, credits: number | null | undefined): NanoUsd | null | undefined {
  if (credits === undefined) return undefined
  const cap = credits === null ? null : parseCredits(credits, 'daily_cap')
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
 * Changes the account's keys in a transaction, one change at a time. It reads the calling key
 * again, which may have been limited or revoked since the request arrived. Throws `bad_key`.
 */
async function changeKeys<T>(
  ctx: AppContext,
  { owner, key }: KeySpender,
  work: (db: Db, current: keys.Key, count: number) => Promise<T>,
): Promise<T> {
  const result = await ctx.db.tx(async (db) => {
    await keys.lockOwner(db, owner.owner)
    const active = await keys.list(db, owner.owner)
    const current = active.find(({ prefix }) => prefix === key.prefix)
    if (!current || current.suspended !== null) throw new ApiError('bad_key')
    return work(db, current, active.length)
  })
  ctx.keys.forget()
  return result
}

/** Lists the account's active keys, oldest first. */
export async function list(
  ctx: AppContext,
  { owner, key: current }: KeySpender,
): Promise<KeyResponse[]> {
  const active = await keys.list(ctx.db.read, owner.owner)
  return active.map((key) => present(key, current))
}

/**
 * Creates a key; its default cap is that of the calling key. `api_key` is shown once. Throws
 * `cap_above_own`, and `bad_request` at the maximum number of keys.
 */
export async function add(
  ctx: AppContext,
  spender: KeySpender,
  params: KeyParams,
): Promise<KeyResponse & { api_key: string }> {
  const { owner } = spender
  keys.validateName(params.name)
  const { key, text } = await changeKeys(ctx, spender, (db, current, count) => {
    const cap = readCap(current, params.daily_cap)
    const dailyCap = cap === undefined ? current.dailyCap : cap
    const max = owner.kind === 'agent' ? keysPerAgentMax : keysPerAccountMax
    if (count >= max) {
      const problem = `The maximum of ${max} keys is reached. Revoke one first.`
      throw new ApiError('bad_request', { problem })
    }
    const key = { kind: current.kind, owner: owner.owner, name: params.name, dailyCap }
    return keys.create(db, ctx.clock, key)
  })
  return { ...present(key, spender.key), api_key: text }
}

/** Changes a key's name or cap. Throws `bad_request`, `not_found`, `cap_above_own`. */
export async function edit(
  ctx: AppContext,
  spender: KeySpender,
  id: string,
  params: KeyParams,
): Promise<KeyResponse> {
  keys.validateName(params.name)
  const changed = await changeKeys(ctx, spender, (db, current) => {
    const dailyCap = readCap(current, params.daily_cap)
    return keys.update(db, spender.owner.owner, id, { name: params.name, dailyCap })
  })
  if (!changed) throw new ApiError('not_found', { what: 'key' })
  return present(changed, spender.key)
}

/** Revokes a key of the account. Throws `not_found`, `last_key`. */
export const revoke = (ctx: AppContext, spender: KeySpender, id: string): Promise<void> =>
  changeKeys(ctx, spender, async (db, _, count) => {
    if (!(await keys.revoke(db, ctx.clock, spender.owner.owner, id))) {
      throw new ApiError('not_found', { what: 'key' })
    }
    if (count === 1) throw new ApiError('last_key')
  })
