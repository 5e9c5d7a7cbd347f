import { and, eq, gte, lt } from 'drizzle-orm'

import type { Client } from '../../kernel/client.ts'
import type { AppContext } from '../../kernel/context.ts'
import type { Db } from '../../kernel/db/engine.ts'
import { hasRows } from '../../kernel/db/query.ts'
import { ApiError, rejectRequest } from '../../kernel/errors.ts'
import { sign } from '../../kernel/ids.ts'
import { keysPerAgentMax } from '../../kernel/limits.ts'
import type { Scope } from '../../kernel/scopes.ts'
import { day, utcDay } from '../../kernel/time.ts'
import { sentence } from '../../kernel/words/message.ts'
import * as keys from '../../money/keys/keys.ts'
import { notify } from '../notifications/notifications.ts'
import { type Agent, suspensionError } from './agents.ts'
import { dailyCapOf } from './spending.ts'
import { agents, keyNetworks } from './tables.ts'

/**
 * Creates a key for an agent with the cap of the key `by` that makes it, or of the agent. Throws
 * `bad_request` past `keysPerAgentMax` keys, `bad_key`, `account_closed` and `account_suspended`.
 */
export async function createAgentKey(
  ctx: AppContext,
  { id }: Pick<Agent, 'id'>,
  name: string | undefined,
  by?: Pick<keys.Key, 'prefix'>,
): Promise<{ text: string; key: keys.Key }> {
  keys.validateName(name)
  return ctx.db.tx((db) => insertAgentKey(ctx, db, { id, name, by }))
}

interface NewAgentKey {
  /** The agent. */
  id: string
  name: string | undefined
  by?: Pick<keys.Key, 'prefix'> | undefined
  /** Set for the token of a connector. */
  token?: { scopes: Scope[]; expires: number }
}

/** Creates a key in a transaction, as `createAgentKey` does. */
export async function insertAgentKey(
  ctx: AppContext,
  db: Db,
  { id, name, by, token }: NewAgentKey,
): Promise<{ text: string; key: keys.Key }> {
  await keys.lockOwner(db, id)
  const live = await keys.list(db, id)
  const own = live.find(({ prefix }) => prefix === by?.prefix)
  if (by && !own) throw new ApiError('bad_key')
  if (live.length >= keysPerAgentMax)
    rejectRequest(`The agent has reached the limit of ${keysPerAgentMax} keys. Revoke one first.`)
  const [agent] = await db.select().from(agents).where(eq(agents.id, id))
  if (!agent) throw new Error('the owner of the key is no agent')
  if (agent.closed !== null) throw new ApiError('account_closed')
  if (agent.suspended !== null) throw suspensionError(agent)
  const dailyCap = own ? own.dailyCap : dailyCapOf(agent)
  return keys.create(db, ctx.clock, { kind: 'agent', owner: id, name, dailyCap, ...token })
}

/** Lists the live keys of an agent with their prefixes as ids. */
export const listAgentKeys = async (ctx: AppContext, { id }: Pick<Agent, 'id'>) =>
  (await keys.list(ctx.db.read, id)).map((key) => ({ ...key, id: key.prefix }))

/** Revokes a key of an agent by its prefix. Throws `not_found` and `last_key`. */
export async function revokeAgentKey(ctx: AppContext, agent: Agent, prefix: string): Promise<void> {
  await ctx.db.tx(async (db) => {
    await keys.lockOwner(db, agent.id)
    const live = await keys.count(db, agent.id)
    if (!(await keys.revoke(db, ctx.clock, agent.id, prefix))) {
      throw new ApiError('not_found', { what: 'key', see: 'GET /me/keys lists your keys.' })
    }
    if (live === 1) throw new ApiError('last_key')
    const text = sentence('The key {prefix} was revoked by another of your keys.', { prefix })
    await notify(ctx, db, { to: agent.id, kind: 'key.revoked', text, data: { prefix } })
  })
  ctx.keys.forget()
}

/** Days for which a network of an agent is remembered (docs/spec/packs-and-runs.md). */
const networkDays = 30

/** Remembers the network of an authenticated request. It is written within seconds. */
export function recordKeyNetwork({ state, clock }: AppContext, agent: string, { prefix }: Client) {
  state.keyNetworks.add({ agent, prefix, day: utcDay(clock.now()) })
}

const hashOf = ({ secret }: AppContext, prefix: string): string =>
  sign(secret, `network ${prefix}`).slice(0, 22)

/** Stores the networks of the last seconds. Only keyed hashes are stored. */
export async function flushKeyNetworks(ctx: AppContext): Promise<void> {
  const pending = ctx.state.keyNetworks.takePending()
  if (pending.length === 0) return
  await ctx.db.tx(async (db) => {
    for (const { agent, prefix, day: last } of pending) {
      const target = [keyNetworks.agent, keyNetworks.network]
      await db
        .insert(keyNetworks)
        .values({ agent, network: hashOf(ctx, prefix), last })
        .onConflictDoUpdate({ target, set: { last } })
    }
  })
}

/** Returns whether a key of the agent was used from this network within the last 30 days. */
export async function hasUsedNetwork(
  ctx: AppContext,
  db: Db,
  agent: string,
  prefix: string,
): Promise<boolean> {
  if (ctx.state.keyNetworks.has(agent, prefix)) return true
  const isTheirs = and(
    eq(keyNetworks.agent, agent),
    eq(keyNetworks.network, hashOf(ctx, prefix)),
    gte(keyNetworks.last, oldest(ctx)),
  )
  return hasRows(db, keyNetworks, isTheirs)
}

const oldest = ({ clock }: AppContext): string => utcDay(clock.now() - networkDays * day)

/** Deletes networks that were not used for 30 days. */
export async function deleteOldKeyNetworks(ctx: AppContext): Promise<void> {
  await ctx.db.tx((db) => db.delete(keyNetworks).where(lt(keyNetworks.last, oldest(ctx))))
}
