import { and, count, eq, gte, min } from 'drizzle-orm'

import type { Db } from '../kernel/db/engine.ts'
import { ApiError } from '../kernel/errors.ts'
import { withReservation } from '../kernel/state/reservations.ts'
import { hour, secondsUntil } from '../kernel/time.ts'
import type { Agent } from '../people/agents/agents.ts'
import { checkBytes } from '../people/agents/storage-quota.ts'
import type { AppContext } from '../server/context.ts'
import { versions } from './tables.ts'

/** Throws `publishes_limit` and `storage_full` early; `addVersion` repeats both checks. */
export async function checkPublishQuota(
  ctx: AppContext,
  maker: string,
  bytes: number,
  { rows: running, bytes: runningBytes } = { rows: 0, bytes: 0 },
): Promise<void> {
  await checkPublishes(ctx, ctx.db.read, maker, running)
  await checkBytes(ctx, maker, runningBytes + bytes)
}

/**
 * Counts a publish of `bytes` beside the other publishes of the maker that run, before it is
 * stored. Returns what ends the reservation. Throws what `checkPublishQuota` throws.
 */
export const reservePublish = (
  ctx: AppContext,
  maker: string,
  bytes: number,
): Promise<() => void> =>
  ctx.state.reservations.begin(maker, { rows: 1, bytes }, (others) =>
    checkPublishQuota(ctx, maker, bytes, others),
  )

/** Runs a write that publishes `bytes`. Throws what `checkPublishQuota` throws before it. */
export const withPublishQuota = <Result>(
  ctx: AppContext,
  maker: Agent,
  bytes: number,
  write: () => Promise<Result>,
): Promise<Result> => withReservation(reservePublish(ctx, maker.id, bytes), write)

/** Throws `publishes_limit`. `running` publishes are not stored yet. */
export async function checkPublishes(
  ctx: AppContext,
  db: Db,
  maker: string,
  running = 0,
): Promise<void> {
  const { used, max, retryAfter } = await getPublishUsage(ctx, db, maker)
  if (max > 0 && used + running >= max) throw new ApiError('publishes_limit', { max, retryAfter })
}

/** Returns the publishes of the last hour, the limit (0: none) and the seconds until the next. */
export async function getPublishUsage(
  ctx: AppContext,
  db: Db,
  maker: string,
): Promise<{ used: number; max: number; retryAfter: number }> {
  const now = ctx.clock.now()
  const [row] = await db
    .select({ used: count(), oldest: min(versions.created).mapWith(Number) })
    .from(versions)
    .where(and(eq(versions.maker, maker), gte(versions.created, now - hour)))
  const retryAfter = secondsUntil((row?.oldest ?? now) + hour, now)
  return { used: row?.used ?? 0, max: ctx.config.publishesPerHour, retryAfter }
}
