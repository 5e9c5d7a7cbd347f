import type { AppContext } from '../../context.ts'
import { day } from '../../core/time.ts'
import { deleteAppealsBefore } from '../apps/appeal/appeals.ts'
import { deleteAuditBefore } from '../audit/audit.ts'
import { deleteReportsBefore } from '../reports/reports.ts'

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
