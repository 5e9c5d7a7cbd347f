import { and, eq, gt, lt, sql } from 'drizzle-orm'

import type { Engine } from '../db/engine.ts'
import { thisProcess } from '../db/replicas/process.ts'
import type { Latencies } from '../latencies.ts'
import { type Clock, minute } from '../time.ts'
import { type Observations, observedMs } from './observations.ts'
import { observedWindows } from './tables.ts'

/** Measurements that the console adds up over all servers. */
const sharedNames = ['parts', 'routes', 'models', 'upstreams', 'firstBytes', 'errors'] as const
type SharedName = (typeof sharedNames)[number]

/** The longest window. A window is written until it is over for as long. */
const windowMsMax = 10 * minute
/** Windows that one page adds up: those of a day of about 30 servers. */
const windowsMax = 50_000

interface Observing {
  db: Engine
  clock: Clock
  state: { observations: Observations }
}

/** Writes the newest measurements of this process for the consoles of all servers. */
export async function shareObservations({ db, clock, state }: Observing): Promise<void> {
  if (db.kind === 'sqlite') return
  const rows = sharedNames.flatMap((name) =>
    state.observations[name]
      .windowsSince(clock.now() - windowMsMax)
      .map((window) => ({ process: thisProcess, name, ...window })),
  )
  if (rows.length === 0) return
  const { process, name, at } = observedWindows
  const set = { counts: sql`excluded.counts` }
  await db.tx((tx) =>
    tx
      .insert(observedWindows)
      .values(rows)
      .onConflictDoUpdate({ target: [process, name, at], set }),
  )
}

/** Returns measurements of the last `ms` milliseconds, summed over all servers. */
export async function readObservations(
  ctx: Observing,
  name: SharedName,
  ms: number,
): Promise<Latencies> {
  const own = ctx.state.observations[name]
  if (ctx.db.kind === 'sqlite') return own
  await shareObservations(ctx)
  const { at, counts } = observedWindows
  const windows = await ctx.db.read
    .select({ at, counts })
    .from(observedWindows)
    .where(and(eq(observedWindows.name, name), gt(at, ctx.clock.now() - ms - windowMsMax)))
    .limit(windowsMax)
  return own.sumOf(windows)
}

/** Deletes measurements of more than a day ago. */
export const deleteOldObservations = async ({ db, clock }: Observing): Promise<unknown> =>
  db.kind === 'postgres' &&
  db.tx((tx) =>
    tx
      .delete(observedWindows)
      .where(lt(observedWindows.at, clock.now() - observedMs - windowMsMax)),
  )
