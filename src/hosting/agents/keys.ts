import { eq } from 'drizzle-orm'

import type { AppContext } from '../../context.ts'
import { ApiError } from '../../errors.ts'
import * as keys from '../../keys/keys.ts'
import { keysPerAgentMax } from '../../limits.ts'
import { notify } from '../notifications/notifications.ts'
import type { Agent } from './agents.ts'
import { dailyCapOf } from './spending.ts'
import { suspensionError } from './suspension.ts'
import { agents } from './tables.ts'

/**
 * Adds a key for the agent, inside the bound of `keysPerAgentMax` live keys, with the agent's cap,
 * or with that of the key `by` which it is made. Refuses bad_request, bad_key, account_closed,
 * account_suspended.
 */
export async function createAgentKey(
  ctx: AppContext,
  { id }: Pick<Agent, 'id'>,
  name: string | undefined,
  by?: Pick<keys.Key, 'prefix'>,
): Promise<{ text: string; key: keys.Key }> {
  keys.validateName(name)
  return ctx.db.tx(async (db) => {
    await keys.lockOwner(db, id)
    const live = await keys.list(db, id)
    const own = live.find(({ prefix }) => prefix === by?.prefix)
    if (by && !own) throw new ApiError('bad_key')
    if (live.length >= keysPerAgentMax) {
      const problem = `An agent has at most ${keysPerAgentMax} keys. Revoke one first.`
      throw new ApiError('bad_request', { problem })
    }
    const [agent] = await db.select().from(agents).where(eq(agents.id, id))
    if (!agent) throw new Error('a key for no agent')
    if (agent.closed !== null) throw new ApiError('account_closed')
    if (agent.suspended !== null) throw suspensionError(agent)
    const dailyCap = own ? own.dailyCap : dailyCapOf(agent)
    return keys.create(db, ctx.clock, { kind: 'agent', owner: id, name, dailyCap })
  })
}

/** The live keys of an agent, known in lists by their prefixes. */
export const listAgentKeys = async (ctx: AppContext, { id }: Pick<Agent, 'id'>) =>
  (await keys.list(ctx.db.read, id)).map((key) => ({ ...key, id: key.prefix }))

/** Revokes one of the agent's keys by its prefix. Refuses not_found, and last_key for the last. */
export async function revokeAgentKey(ctx: AppContext, agent: Agent, prefix: string): Promise<void> {
  await ctx.db.tx(async (db) => {
    await keys.lockOwner(db, agent.id)
    const live = await keys.count(db, agent.id)
    if (!(await keys.revoke(db, ctx.clock, agent.id, prefix))) {
      throw new ApiError('not_found', { what: 'key', see: 'GET /me/keys lists yours.' })
    }
    if (live === 1) throw new ApiError('last_key')
    const text = `The key ${prefix} was revoked with one of your keys.`
    await notify(ctx, db, { to: agent.id, kind: 'key.revoked', text, data: { prefix } })
  })
  ctx.keys.forget()
}
