import { and, asc, eq, lte, or } from 'drizzle-orm'

import { changedRowCount } from '../../../kernel/db/query.ts'
import { hasEnded, thisProcess } from '../../../kernel/db/replicas/presence.ts'
import { isWithin, minute, second } from '../../../kernel/time.ts'
import type { CoinContext } from './coins.ts'
import { backOffMsMax, leaseMs, networksOf, watcherSilenceMs } from './method.ts'
import { watchers } from './tables.ts'

type StoredWatcher = typeof watchers.$inferSelect

/** Pause of a watcher without invoices, which only shows whether its servers answer. */
const idleMs = minute

/** Takes or renews the lease of a watcher; undefined where another process has it. */
export async function takeLease(
  ctx: CoinContext,
  network: string,
): Promise<StoredWatcher | undefined> {
  const now = ctx.clock.now()
  const lease = { process: thisProcess, leaseUntil: now + leaseMs }
  return ctx.db.tx(async (db) => {
    await db
      .insert(watchers)
      .values({ network, ...lease, failures: 0 })
      .onConflictDoNothing()
    const isFree = or(
      eq(watchers.process, thisProcess),
      lte(watchers.leaseUntil, now),
      hasEnded(watchers.process),
    )
    const taken = await db
      .update(watchers)
      .set(lease)
      .where(and(eq(watchers.network, network), isFree))
    if (changedRowCount(taken) === 0) return undefined
    const [watcher] = await db.select().from(watchers).where(eq(watchers.network, network))
    return watcher
  })
}

/** Returns whether a watcher that failed waits: longer each time. */
export function isResting(ctx: CoinContext, { failures, polled }: StoredWatcher): boolean {
  if (failures === 0 || polled === null) return false
  const pause = Math.min(backOffMsMax, 2 ** Math.min(failures, 10) * second)
  return isWithin(ctx.clock, polled, pause)
}

/** Returns whether a watcher without invoices was successful lately. */
export const isIdle = (ctx: CoinContext, { succeeded, problem }: StoredWatcher): boolean =>
  problem === null && succeeded !== null && isWithin(ctx.clock, succeeded, idleMs)

/** Stores the result of a pass. */
export async function finish(
  ctx: CoinContext,
  { network, failures }: StoredWatcher,
  { cursor, problem }: { cursor: string | null; problem: string | null },
): Promise<void> {
  const now = ctx.clock.now()
  const isOwn = and(eq(watchers.network, network), eq(watchers.process, thisProcess))
  const result = problem === null ? { succeeded: now, failures: 0 } : { failures: failures + 1 }
  await ctx.db.tx((db) =>
    db
      .update(watchers)
      .set({ cursor, problem, polled: now, ...result })
      .where(isOwn),
  )
}

export interface WatcherHealth {
  network: string
  ok: boolean
  lastPollAt: number | null
  problem: string | null
  cursor: string | null
}

const healthOf = (ctx: CoinContext, watcher: StoredWatcher): WatcherHealth => {
  const { network, succeeded, problem, cursor } = watcher
  const isFresh = succeeded !== null && isWithin(ctx.clock, succeeded, watcherSilenceMs)
  return { network, ok: isFresh && problem === null, lastPollAt: succeeded, problem, cursor }
}

const never = (network: string): WatcherHealth => ({
  network,
  ok: false,
  lastPollAt: null,
  problem: null,
  cursor: null,
})

/** Returns the health of every watcher of the settings. */
export async function readWatchers(ctx: CoinContext): Promise<WatcherHealth[]> {
  const stored = await ctx.db.read.select().from(watchers).orderBy(asc(watchers.network))
  return networksOf(ctx.config).map((network) => {
    const watcher = stored.find((one) => one.network === network)
    return watcher ? healthOf(ctx, watcher) : never(network)
  })
}

export async function readWatcher(ctx: CoinContext, network: string): Promise<WatcherHealth> {
  const [watcher] = await ctx.db.read.select().from(watchers).where(eq(watchers.network, network))
  return watcher ? healthOf(ctx, watcher) : never(network)
}

/** Returns whether payments on a network are unseen now: its servers fail since minutes. */
export async function isBlind(ctx: CoinContext, network: string): Promise<boolean> {
  const { problem, lastPollAt } = await readWatcher(ctx, network)
  const isFresh = lastPollAt !== null && isWithin(ctx.clock, lastPollAt, watcherSilenceMs)
  return problem !== null && !isFresh
}
