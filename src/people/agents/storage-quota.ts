import { and, eq, lte, type SQL, sql } from 'drizzle-orm'

import type { AppContext } from '../../kernel/context.ts'
import type { Db } from '../../kernel/db/engine.ts'
import { ApiError } from '../../kernel/errors.ts'
import { suspensionError } from './agents.ts'
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

/** Throws `storage_full` where `bytes` more do not fit. `reserveBytes` repeats it. */
export async function checkBytes(ctx: AppContext, agent: string, bytes: number): Promise<void> {
  const max = ctx.config.bytesPerAgent
  if (max === 0 || bytes === 0) return
  const [row] = await ctx.db.read
    .select({ storedBytes: agents.storedBytes })
    .from(agents)
    .where(eq(agents.id, agent))
  if (row && row.storedBytes + bytes > max) throw new ApiError('storage_full', { max })
}

/**
 * Adds bytes that the service stores for an agent on its own. Returns false, and adds nothing, when
 * they exceed its quota.
 */
export async function reserveFreeBytes(
  { config }: AppContext,
  db: Db,
  agent: string,
  bytes: number,
): Promise<boolean> {
  const max = config.bytesPerAgent
  const hasSpace = bytes > 0 && max > 0 ? lte(agents.storedBytes, max - bytes) : undefined
  return (await addBytes(db, agent, bytes, hasSpace)) !== undefined
}

/** Locks the row of an agent. Throws `account_closed` and `account_suspended`. */
export const lockAgent = (ctx: AppContext, db: Db, agent: string): Promise<void> =>
  reserveBytes(ctx, db, agent, 0)

/** Adds to the bytes that an agent stores, whatever its quota is. Locks its row. */
export async function countBytes(db: Db, agent: string, bytes: number): Promise<void> {
  await addBytes(db, agent, bytes)
}

/** Subtracts from the bytes that an agent stores, closed or not. */
export async function releaseBytes(db: Db, agent: string, bytes: number): Promise<void> {
  await countBytes(db, agent, -bytes)
}

async function addBytes(db: Db, agent: string, bytes: number, isAllowed?: SQL) {
  const [row] = await db
    .update(agents)
    .set({ storedBytes: sql`${agents.storedBytes} + ${bytes}` })
    .where(and(eq(agents.id, agent), isAllowed))
    .returning()
  return row
}
