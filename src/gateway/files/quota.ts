import { count, sum } from 'drizzle-orm'

import { currentClient } from '../../kernel/client.ts'
import { ApiError } from '../../kernel/errors.ts'
import {
  fileBytesPerAccountMax,
  filesPerAccountMax,
  unfundedDiskFloors,
  unfundedFileBytesMax,
} from '../../kernel/limits.ts'
import { type Addition, withReservation } from '../../kernel/state/reservations.ts'
import type { AppContext } from '../../server/context.ts'
import type { AccountId } from '../authentication.ts'
import { keptOf } from './lifetime.ts'
import { gatewayFiles } from './tables.ts'

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
