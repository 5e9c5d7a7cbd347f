import { and, count, eq, gt, isNull, lte, or, sum } from 'drizzle-orm'

import { currentClient } from '../../kernel/client.ts'
import type { AppContext } from '../../kernel/context.ts'
import { ApiError } from '../../kernel/errors.ts'
import {
  fileBytesPerAccountMax,
  filesPerAccountMax,
  unfundedDiskFloors,
  unfundedFileBytesMax,
} from '../../kernel/limits.ts'
import { type Addition, withReservation } from '../../kernel/state/reservations.ts'
import { day } from '../../kernel/time.ts'
import type { AccountId } from '../authentication.ts'
import { gatewayFiles } from './tables.ts'

/** Returns the time of a last use from which on files without expiry are kept. */
const keptSince = ({ clock, config: { filesKeptDays } }: AppContext): number =>
  filesKeptDays === 0 ? 0 : clock.now() - filesKeptDays * day

/** Selects the account's files, without expired ones that are not deleted yet. */
export const keptOf = (ctx: AppContext, account: AccountId) =>
  and(
    eq(gatewayFiles.account, account),
    or(
      gt(gatewayFiles.expires, ctx.clock.now()),
      and(
        isNull(gatewayFiles.expires),
        or(isNull(gatewayFiles.used), gt(gatewayFiles.used, keptSince(ctx))),
      ),
    ),
  )

/** Deletes expired and unused files. A file of an earlier version counts as used now. */
export async function deleteExpired(ctx: AppContext): Promise<void> {
  const { db, clock } = ctx
  const isUnused = and(isNull(gatewayFiles.expires), lte(gatewayFiles.used, keptSince(ctx)))
  await db.tx(async (tx) => {
    await tx.delete(gatewayFiles).where(or(lte(gatewayFiles.expires, clock.now()), isUnused))
    const isOld = and(isNull(gatewayFiles.expires), isNull(gatewayFiles.used))
    await tx.update(gatewayFiles).set({ used: clock.now() }).where(isOld)
  })
}

/** Returns when a file expires; null for never. */
export function expiryOf(
  { config: { filesKeptDays } }: AppContext,
  file: typeof gatewayFiles.$inferSelect,
): number | null {
  if (file.expires !== null || filesKeptDays === 0) return file.expires
  return (file.used ?? file.created) + filesKeptDays * day
}

/** Throws `files_full` where an account may not store `bytes` more in one or several `files`. */
export async function checkQuota(
  ctx: AppContext,
  account: AccountId,
  { rows: files, bytes }: Addition,
  isFunded: boolean,
  db = ctx.db.read,
): Promise<void> {
  const [total] = await db
    .select({ files: count(), bytes: sum(gatewayFiles.bytes).mapWith(Number) })
    .from(gatewayFiles)
    .where(keptOf(ctx, account))
  const bytesMax = isFunded ? fileBytesPerAccountMax : unfundedFileBytesMax
  const isFull =
    (total?.files ?? 0) + files > filesPerAccountMax || (total?.bytes ?? 0) + bytes > bytesMax
  if (isFull)
    throw new ApiError('files_full', { files: filesPerAccountMax, bytes: bytesMax, isFunded })
}

/** Runs a write that adds a file of `bytes` to an account. Throws `files_full` before it. */
export const withQuota = <Result>(
  ctx: AppContext,
  account: AccountId,
  bytes: number,
  isFunded: boolean,
  write: () => Promise<Result>,
): Promise<Result> =>
  withReservation(
    ctx.state.reservations.begin(`files of ${account}`, { rows: 1, bytes }, (others) =>
      checkQuota(ctx, account, { rows: others.rows + 1, bytes: others.bytes + bytes }, isFunded),
    ),
    write,
  )

/**
 * Counts an upload of an account without funds. Such accounts cost nothing to create, so their
 * uploads have a limit per network and day, and stop first when the disk gets low. Throws
 * `uploads_limit` and `try_again`.
 */
export async function checkUnfunded(ctx: AppContext, bytes: number): Promise<void> {
  if (!ctx.storage.hasFreeSpace(bytes, unfundedDiskFloors)) {
    const why = 'The server has little disk space and accepts only files of funded accounts.'
    throw new ApiError('try_again', { why })
  }
  const { unfundedUploads: limit } = ctx.state.limits
  const retryAfter = await limit.take(currentClient().prefix, Math.max(1, bytes))
  if (retryAfter !== undefined)
    throw new ApiError('uploads_limit', { bytes: limit.max, retryAfter })
}
