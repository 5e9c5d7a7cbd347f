import { and, eq, gt } from 'drizzle-orm'

import type { Db } from '../../kernel/db/engine.ts'
import { countRows } from '../../kernel/db/query.ts'
import { sign } from '../../kernel/ids.ts'
import { day, utcDay } from '../../kernel/time.ts'
import { type Agent, findAgent } from '../../people/agents/agents.ts'
import { hasUsedNetwork } from '../../people/agents/key-networks.ts'
import type { AppContext } from '../../server/context.ts'
import { countedPerOwnerWeek, newAgentMs } from './limits.ts'
import { runs } from './tables.ts'
import { newAgentWeight, weightUnits } from './wilson.ts'

/** An agent that follows a pack, with its network. */
export interface Runner {
  agent: Agent
  pack: string
  maker: string
  /** An IPv4 /24 or an IPv6 /56. */
  network: string
}

/** Returns the owner of an agent. Unclaimed agents on one network count as one owner. */
export const ownerOf = (
  { secret }: AppContext,
  { agent: { owner }, network }: Pick<Runner, 'agent' | 'network'>,
): string => owner ?? `network ${sign(secret, `runs from ${network}`).slice(0, 22)}`

/** Returns the weight of a run in tenths. New agents without an owner are free to make. */
export const weightOf = ({ owner, created }: Agent, now: number): number =>
  owner === null && now - created < newAgentMs ? newAgentWeight : weightUnits

/**
 * Returns whether a new run counts in the record (docs/spec/packs-and-runs.md, "Track records").
 * The transaction holds the lock of the pack, so that concurrent runs see each other.
 */
export async function isCounted(ctx: AppContext, db: Db, runner: Runner): Promise<boolean> {
  const { agent, pack } = runner
  if (await isOfMaker(ctx, db, runner)) return false
  const now = ctx.clock.now()
  const ofAgent = and(eq(runs.agent, agent.id), eq(runs.pack, pack))
  if ((await countRows(db, runs, and(ofAgent, eq(runs.day, utcDay(now))))) > 0) return false
  const ofOwner = and(eq(runs.pack, pack), eq(runs.owner, ownerOf(ctx, runner)))
  for (const theirs of [ofAgent, ofOwner]) {
    const lastWeek = and(theirs, eq(runs.counted, true), gt(runs.created, now - 7 * day))
    if ((await countRows(db, runs, lastWeek)) >= countedPerOwnerWeek) return false
  }
  return true
}

/** Returns whether a run is by the maker, its owner, or from the maker's network. */
export async function isOfMaker(
  ctx: AppContext,
  db: Db,
  { agent, maker: makerId, network }: Runner,
): Promise<boolean> {
  if (agent.id === makerId) return true
  const maker = await findAgent(ctx, makerId)
  const isSameOwner = maker?.owner != null && maker.owner === agent.owner
  if (!maker || isSameOwner || maker.madeFrom === agent.madeFrom) return true
  return hasUsedNetwork(ctx, db, makerId, network)
}
