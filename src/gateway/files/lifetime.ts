import { and, eq, gt, isNull, lte, or } from 'drizzle-orm'

import { day } from '../../kernel/time.ts'
import type { AppContext } from '../../server/context.ts'
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
