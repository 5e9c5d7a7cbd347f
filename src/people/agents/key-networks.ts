import { and, eq, gte, lt } from 'drizzle-orm'

import type { Client } from '../../kernel/client.ts'
import type { Db } from '../../kernel/db/engine.ts'
import { hasRows } from '../../kernel/db/query.ts'
import { sign } from '../../kernel/ids.ts'
import { day, utcDay } from '../../kernel/time.ts'
import type { AppContext } from '../../server/context.ts'
import { keyNetworks } from './tables.ts'

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
