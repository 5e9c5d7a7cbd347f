import type { AppContext } from '../../context.ts'
import { hour } from '../../core/time.ts'
import type { Db } from '../../db/engine.ts'
import { ApiError } from '../../errors.ts'
import * as keys from '../../keys/keys.ts'
import { keysPerAccountMax, keysPerAgentMax } from '../../limits.ts'
import type { KeySpender } from '../authentication.ts'
import { inheritedSettings, presentKey, readKeySettings } from './key-settings.ts'
import { requireProject } from './projects.ts'
import type { KeyParams, KeyResponse, RotateParams } from './schemas.ts'

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

/** Parses the settings of a key, whose project must be one of the account. */
async function readSettings(
  { clock }: AppContext,
  db: Db,
  caller: keys.Key,
  params: KeyParams,
): Promise<Partial<keys.KeySettings>> {
  const settings = readKeySettings(caller, params, clock.now())
  const { daily_cap: _, name: __, ...limits } = params
  if (caller.kind === 'agent' && Object.keys(limits).length > 0) {
    const problem = 'The keys of an agent have a daily cap only. Use a key of a gateway account.'
    throw new ApiError('bad_request', { problem })
  }
  if (settings.project) await requireProject(db, caller.owner, settings.project)
  return settings
}

/** Lists the account's active keys, oldest first. */
export async function list(
  ctx: AppContext,
  { owner, key: current }: KeySpender,
): Promise<KeyResponse[]> {
  const active = await keys.list(ctx.db.read, owner.owner)
  return active.map((key) => presentKey(key, current))
}

/**
 * Creates a key; its default limits are those of the calling key. `api_key` is shown once. Throws
 * `cap_above_own`, `key_above_own`, `not_found` for a project, and `bad_request` at the maximum
 * number of keys.
 */
export async function add(
  ctx: AppContext,
  spender: KeySpender,
  params: KeyParams,
): Promise<KeyResponse & { api_key: string }> {
  const { owner } = spender
  keys.validateName(params.name)
  const { key, text } = await changeKeys(ctx, spender, async (db, current, count) => {
    const settings = await readSettings(ctx, db, current, params)
    const max = owner.kind === 'agent' ? keysPerAgentMax : keysPerAccountMax
    if (count >= max) {
      const problem = `The maximum of ${max} keys is reached. Revoke one first.`
      throw new ApiError('bad_request', { problem })
    }
    const { kind } = current
    const limits = { ...inheritedSettings(current), ...settings }
    return keys.create(db, ctx.clock, { ...limits, kind, owner: owner.owner, name: params.name })
  })
  return { ...presentKey(key, spender.key), api_key: text }
}

/** Changes a key's settings. Throws the errors of `add`. */
export async function edit(
  ctx: AppContext,
  spender: KeySpender,
  id: string,
  params: KeyParams,
): Promise<KeyResponse> {
  keys.validateName(params.name)
  const changed = await changeKeys(ctx, spender, async (db, current) => {
    const settings = await readSettings(ctx, db, current, params)
    const changes = { ...settings, ...(params.name !== undefined && { name: params.name }) }
    return keys.update(db, spender.owner.owner, id, changes)
  })
  if (!changed) throw new ApiError('not_found', { what: 'key' })
  return presentKey(changed, spender.key)
}

/** Revokes a key of the account. Throws `not_found`, `last_key`. */
export const revoke = (ctx: AppContext, spender: KeySpender, id: string): Promise<void> =>
  changeKeys(ctx, spender, async (db, _, count) => {
    if (!(await keys.revoke(db, ctx.clock, spender.owner.owner, id))) {
      throw new ApiError('not_found', { what: 'key' })
    }
    if (count === 1) throw new ApiError('last_key')
  })

/**
 * Replaces a key by a new one with the same settings. The old key expires after the overlap, so
 * that its users can change over. Throws `not_found`, `bad_request`.
 */
export async function rotate(
  ctx: AppContext,
  spender: KeySpender,
  id: string,
  { overlap_hours: hours = 24 }: RotateParams,
): Promise<KeyResponse & { api_key: string }> {
  const { owner } = spender
  const { key, text } = await changeKeys(ctx, spender, async (db) => {
    const active = await keys.list(db, owner.owner)
    const old = active.find(({ prefix }) => prefix === id)
    if (!old) throw new ApiError('not_found', { what: 'key' })
    const end = ctx.clock.now() + hours * hour
    const expires = old.expires === null ? end : Math.min(old.expires, end)
    await keys.update(db, owner.owner, id, { expires })
    const { prefix: _, created: __, revoked: ___, suspended: ____, name, ...settings } = old
    return keys.create(db, ctx.clock, { ...settings, name: name ?? undefined })
  })
  return { ...presentKey(key, spender.key), api_key: text }
}
