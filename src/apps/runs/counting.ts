import { and, eq, gt } from 'drizzle-orm'

import type { AppContext } from '../../kernel/context.ts'
import type { Db } from '../../kernel/db/engine.ts'
import { countRows } from '../../kernel/db/query.ts'
import { sign } from '../../kernel/ids.ts'
import { day, utcDay } from '../../kernel/time.ts'
import { type Agent, findAgent } from '../../people/agents/agents.ts'
import { hasUsedNetwork } from '../../people/agents/keys.ts'
import { countedPerOwnerWeek, newAgentMs } from './limits.ts'
import { runs } from './tables.ts'

/** Weights are whole tenths of a run, so that sums are exact. */
export const weightUnits = 10
const newAgentWeight = 2

/** The counted runs by outcome, in tenths of a run. */
export interface Tally {
  worked: number
  partly: number
  failed: number
  abandoned: number
  expired: number
}

export const outcomes = ['worked', 'partly', 'failed', 'abandoned', 'expired'] as const
export type Outcome = (typeof outcomes)[number]

/** Returns the denominator in runs. */
export const countedOf = (tally: Tally): number =>
  outcomes.reduce((sum, outcome) => sum + tally[outcome], 0) / weightUnits

/** Returns the successes in runs. A run that worked partly is half a success. */
export const successesOf = ({ worked, partly }: Tally): number =>
  (worked + partly / 2) / weightUnits

const z = 1.96

/**
 * Returns the lower bound of Wilson's 95 % interval, from 0 to 1 (Wilson 1927); 0 without runs. Few
 * runs give a low bound, however well they went.
 */
export function wilsonLow(successes: number, counted: number): number {
  if (counted <= 0) return 0
  const rate = successes / counted
  const center = rate + (z * z) / (2 * counted)
  const margin = z * Math.sqrt((rate * (1 - rate)) / counted + (z * z) / (4 * counted * counted))
  return Math.max(0, (center - margin) / (1 + (z * z) / counted))
}

/** Returns `successLow` of a tally. */
export const successLowOf = (tally: Tally): number =>
  wilsonLow(successesOf(tally), countedOf(tally))

export type Confidence = 'none' | 'low' | 'medium' | 'high'

/** Returns how much a record says: both runs and their owners must be many. */
export function confidenceOf(counted: number, owners: number): Confidence {
  if (counted <= 0) return 'none'
  if (counted < 10 || owners < 5) return 'low'
  return counted < 50 || owners < 20 ? 'medium' : 'high'
}

/** Rounds minutes to two digits, so that a histogram of them stays small. */
export function minutesBucket(minutes: number): number {
  const step = 10 ** Math.max(0, Math.floor(Math.log10(Math.max(1, minutes))) - 1)
  return Math.round(minutes / step) * step
}

/** Returns the median of a histogram that is ordered by value; null without values. */
export function medianOf(histogram: { value: number; count: number }[]): number | null {
  const total = histogram.reduce((sum, { count }) => sum + count, 0)
  let past = 0
  for (const { value, count } of histogram) {
    past += count
    if (past * 2 >= total) return value
  }
  return null
}

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
