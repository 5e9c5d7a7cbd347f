import { and, eq, gt, lt, ne, sql } from 'drizzle-orm'

import type { Engine } from '../db/engine.ts'
import { thisProcess } from '../db/replicas/process.ts'
import type { Latencies, LatencyWindow } from '../latencies.ts'
import { type Clock, day, minute } from '../time.ts'
import { type Observations, observedMs } from './observations.ts'
import { observedHours, observedWindows } from './tables.ts'

/** The time that hours of measurements are kept. */
export const observedHoursMs = 90 * day

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

/** Writes the newest measurements of this process, for all servers and after a restart. */
export async function shareObservations({ db, clock, state }: Observing): Promise<void> {
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

/**
 * Returns the windows of the last `ms` milliseconds of all processes, also of those that have
 * ended. Those of this process come from its memory.
 */
export async function readWindows(
  { db, clock, state }: Observing,
  name: SharedName,
  ms: number,
): Promise<LatencyWindow[]> {
  const since = clock.now() - ms - windowMsMax
  const { at, counts, process } = observedWindows
  const isOther = and(eq(observedWindows.name, name), ne(process, thisProcess))
  const others = await db.read
    .select({ at, counts })
    .from(observedWindows)
    .where(and(isOther, gt(at, since)))
    .limit(windowsMax)
  return [...others, ...state.observations[name].windowsSince(since)]
}

/** Returns measurements of the last `ms` milliseconds, summed over all processes. */
export const readObservations = async (
  ctx: Observing,
  name: SharedName,
  ms: number,
): Promise<Latencies> => ctx.state.observations[name].sumOf(await readWindows(ctx, name, ms))

/** Deletes windows of more than a day ago, and hours of more than 90 days ago. */
export const deleteOldObservations = async ({ db, clock }: Observing): Promise<unknown> =>
  db.tx(async (tx) => {
    const now = clock.now()
    await tx.delete(observedWindows).where(lt(observedWindows.at, now - observedMs - windowMsMax))
    await tx.delete(observedHours).where(lt(observedHours.at, now - observedHoursMs))
  })
