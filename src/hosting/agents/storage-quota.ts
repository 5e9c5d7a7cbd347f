import { eq, sql } from 'drizzle-orm'

import type { AppContext } from '../../context.ts'
import type { Db } from '../../db/engine.ts'
import { ApiError } from '../../errors.ts'
import { suspensionError } from './suspension.ts'
import { agents } from './tables.ts'

/**
 * Adds to the bytes that an agent stores and locks its row until the transaction ends. Throws
 * `storage_full`, `account_closed` and `account_suspended`.
 */
export async function reserveBytes(
  ctx: AppContext,
  db: Db,
  agent: string,
  bytes: number,
): Promise<void> {
  const max = ctx.config.bytesPerAgent
  const row = await addBytes(db, agent, bytes)
  if (row?.closed != null) throw new ApiError('account_closed')
  if (row?.suspendedFor != null) throw suspensionError(row)
  if (bytes > 0 && max > 0 && row && row.storedBytes > max)
    throw new ApiError('storage_full', { max })
}

/** Locks the row of an agent. Throws `account_closed` and `account_suspended`. */
export const lockAgent = (ctx: AppContext, db: Db, agent: string): Promise<void> =>
  reserveBytes(ctx, db, agent, 0)

/** Subtracts from the bytes that an agent stores, closed or not. */
export async function releaseBytes(db: Db, agent: string, bytes: number): Promise<void> {
  await addBytes(db, agent, -bytes)
}

async function addBytes(db: Db, agent: string, bytes: number) {
  const [row] = await db
    .update(agents)
    .set({ storedBytes: sql`${agents.storedBytes} + ${bytes}` })
    .where(eq(agents.id, agent))
    .returning()
  return row
}
