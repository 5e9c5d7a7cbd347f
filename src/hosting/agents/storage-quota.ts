import { eq, sql } from 'drizzle-orm'

import type { AppContext } from '../../context.ts'
import type { Db } from '../../db/engine.ts'
import { ApiError } from '../../errors.ts'
import { suspensionError } from './suspension.ts'
import { agents } from './tables.ts'

/**
 * Counts bytes kept by the agent up or down, inside a transaction that locks its row from here on.
 * Refuses storage_full, and account_closed or account_suspended when that came meanwhile.
 */
export async function reserveBytes(
  ctx: AppContext,
  db: Db,
  agent: string,
  bytes: number,
): Promise<void> {
  const max = ctx.config.bytesPerAgent
  const row = await countBytes(db, agent, bytes)
  if (row?.closed != null) throw new ApiError('account_closed')
  if (row?.suspendedFor != null) throw suspensionError(row)
  if (bytes > 0 && max > 0 && row && row.storedBytes > max) throw new ApiError('storage_full', { max })
}

/** Locks an agent's row in the same way. Refuses account_closed, account_suspended. */
export const lockAgent = (ctx: AppContext, db: Db, agent: string): Promise<void> =>
  reserveBytes(ctx, db, agent, 0)

/** Counts bytes that are gone, of a closed agent too, inside a transaction. */
export async function releaseBytes(db: Db, agent: string, bytes: number): Promise<void> {
  await countBytes(db, agent, -bytes)
}

async function countBytes(db: Db, agent: string, bytes: number) {
  const [row] = await db
    .update(agents)
    .set({ storedBytes: sql`${agents.storedBytes} + ${bytes}` })
    .where(eq(agents.id, agent))
    .returning()
  return row
}
