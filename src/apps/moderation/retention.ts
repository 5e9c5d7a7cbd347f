import { day } from '../../kernel/time.ts'
import { deleteAuditBefore } from '../../people/audit/audit.ts'
import type { AppContext } from '../../server/context.ts'
import { deleteAppealsBefore } from '../appeal/appeals.ts'
import { deleteReportsBefore } from './reports.ts'

/** Deletes reports, appeals and audit records older than MODERATION_KEPT_DAYS. */
export async function deleteOldModeration({ db, clock, config }: AppContext): Promise<void> {
  const days = config.moderationKeptDays
  if (days === 0) return
  const before = clock.now() - days * day
  await db.tx(async (tx) => {
    await deleteReportsBefore(tx, before)
    await deleteAppealsBefore(tx, before)
    await deleteAuditBefore(tx, before)
  })
}
