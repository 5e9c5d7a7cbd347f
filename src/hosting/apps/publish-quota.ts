import { and, count, eq, gte, min } from 'drizzle-orm'

import type { AppContext } from '../../context.ts'
import { hour, secondsUntil } from '../../core/time.ts'
import type { Db } from '../../db/engine.ts'
import { ApiError } from '../../errors.ts'
import type { Agent } from '../agents/agents.ts'
import { versions } from './tables.ts'

/** Throws `publishes_limit` and `storage_full` early; `addVersion` repeats both checks. */
export async function checkPublishQuota(
  ctx: AppContext,
  maker: Agent,
  bytes: number,
): Promise<void> {
  await checkPublishes(ctx, ctx.db.read, maker.id)
  const { bytesPerAgent } = ctx.config
  if (bytesPerAgent > 0 && maker.storedBytes + bytes > bytesPerAgent) {
    throw new ApiError('storage_full', { max: bytesPerAgent })
  }
}

/** Throws `publishes_limit`. */
export async function checkPublishes(ctx: AppContext, db: Db, maker: string): Promise<void> {
  const { used, max, retryAfter } = await getPublishUsage(ctx, db, maker)
  if (max > 0 && used >= max) throw new ApiError('publishes_limit', { max, retryAfter })
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
