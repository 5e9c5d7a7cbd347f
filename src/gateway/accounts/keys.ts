import type { AppContext } from '../../kernel/context.ts'
import type { Db } from '../../kernel/db/engine.ts'
import { ApiError, rejectRequest } from '../../kernel/errors.ts'
import { keysPerAccountMax, keysPerAgentMax } from '../../kernel/limits.ts'
import { hour } from '../../kernel/time.ts'
import * as keys from '../../money/keys/keys.ts'
import { initialCap } from '../../money/keys/keys.ts'
import { checkRunningRequests } from '../../money/keys/restrictions.ts'
import {
  checkWithin,
  inheritedSettings,
  type KeyManager,
  presentKey,
  readKeySettings,
} from './key-settings.ts'
import { requireProject } from './projects.ts'
import type { KeyParams, KeyResponse, RotateParams } from './schemas.ts'

/**
 * Changes the account's keys in a transaction, one change at a time. It reads the calling key
 * again, which may have been limited or revoked since the request arrived. Throws `bad_key`.
 */
async function changeKeys<T>(
  ctx: AppContext,
  { owner, key }: KeyManager,
  work: (db: Db, current: keys.Key | undefined, active: keys.Key[]) => Promise<T>,
): Promise<T> {
  const result = await ctx.db.tx(async (db) => {
    await keys.lockOwner(db, owner.owner)
    const active = await keys.list(db, owner.owner)
    const current = active.find(({ prefix }) => prefix === key?.prefix)
    if (key && current?.suspended !== null) throw new ApiError('bad_key')
    return work(db, current, active)
  })
  ctx.keys.forget()
  return result
}

/** Parses the settings of a key, whose project must be one of the account. */
async function readSettings(
  ctx: AppContext,
  db: Db,
  { owner, caller }: Pick<KeyManager, 'owner'> & { caller: keys.Key | undefined },
  params: KeyParams,
): Promise<Partial<keys.KeySettings>> {
  const settings = readKeySettings(caller ?? keys.noSettings, params, ctx.clock.now())
  if (caller) checkRunningRequests(ctx, settings, caller)
  const { daily_cap: _, name: __, ...limits } = params
  if (owner.kind === 'agent' && Object.keys(limits).length > 0) {
    rejectRequest('The keys of an agent have a daily cap only. Use a key of a gateway account.')
  }
  if (settings.project) await requireProject(db, owner.owner, settings.project)
  return settings
}

/** Lists the account's active keys, oldest first. */
export async function list(
  ctx: AppContext,
  { owner, key: current }: KeyManager,
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
  manager: KeyManager,
  params: KeyParams,
): Promise<KeyResponse & { api_key: string }> {
  const { owner } = manager
  keys.validateName(params.name)
  const { key, text } = await changeKeys(ctx, manager, async (db, caller, active) => {
    const settings = await readSettings(ctx, db, { owner, caller }, params)
    checkCount(active, maxKeysOf(owner))
    const inherited = inheritedSettings(caller ?? { ...keys.noSettings, dailyCap: initialCap(ctx) })
    const input = { ...inherited, ...settings, ...owner, name: params.name }
    return keys.create(db, ctx.clock, input)
  })
  return { ...presentKey(key, manager.key), api_key: text }
}

/** Changes a key's settings. Throws the errors of `add`. */
export async function edit(
  ctx: AppContext,
  manager: KeyManager,
  id: string,
  params: KeyParams,
): Promise<KeyResponse> {
  keys.validateName(params.name)
  const { owner } = manager
  const changed = await changeKeys(ctx, manager, async (db, caller) => {
    const settings = await readSettings(ctx, db, { owner, caller }, params)
    const changes = { ...settings, ...(params.name !== undefined && { name: params.name }) }
    return keys.update(db, owner.owner, id, changes)
  })
  if (!changed) throw new ApiError('not_found', { what: 'key' })
  return presentKey(changed, manager.key)
}

/**
 * Revokes a key of the account. Throws `not_found`, and `last_key` where the account could not
 * create another one.
 */
export const revoke = (ctx: AppContext, manager: KeyManager, id: string): Promise<void> =>
  changeKeys(ctx, manager, async (db, caller, active) => {
    if (!(await keys.revoke(db, ctx.clock, manager.owner.owner, id))) {
      throw new ApiError('not_found', { what: 'key' })
    }
    if (caller && active.length === 1) throw new ApiError('last_key')
  })

const maxKeysOf = ({ kind }: KeyManager['owner']): number =>
  kind === 'agent' ? keysPerAgentMax : keysPerAccountMax

function checkCount(active: keys.Key[], max: number): void {
  if (active.length < max) return
  rejectRequest(`The maximum of ${max} keys is reached. Revoke one first.`)
}

/**
 * Replaces a key by a new one with the same settings, whose spending goes on from that of the old
 * one. The old key expires after the overlap, so that its users can change over. Throws
 * `not_found`, `bad_request`, and `key_above_own` for a key with wider limits than the calling one.
 */
export async function rotate(
  ctx: AppContext,
  manager: KeyManager,
  id: string,
  { overlap_hours: hours = 24 }: RotateParams,
): Promise<KeyResponse & { api_key: string }> {
  const { owner } = manager
  const { key, text } = await changeKeys(ctx, manager, async (db, caller, active) => {
    const old = active.find(({ prefix }) => prefix === id)
    if (!old) throw new ApiError('not_found', { what: 'key' })
    if (caller && caller.prefix !== id) checkWithin(caller, old)
    // Each rotation adds a key, and an account with all its keys must be able to rotate them.
    checkCount(active, 2 * maxKeysOf(owner))
    const end = ctx.clock.now() + hours * hour
    const expires = old.expires === null ? end : Math.min(old.expires, end)
    await keys.update(db, owner.owner, id, { expires })
    const { prefix: _, created: __, revoked: ___, suspended: ____, name, ...settings } = old
    const counter = keys.counterOf(old)
    return keys.create(db, ctx.clock, { ...settings, counter, name: name ?? undefined })
  })
  return { ...presentKey(key, manager.key), api_key: text }
}
