import type { AppContext } from '../../context.ts'
import { day } from '../../core/time.ts'
import { forgetAppeals } from '../apps/appeal/appeals.ts'
import { forgetAudit } from '../audit/audit.ts'
import { forgetReports } from '../reports/reports.ts'

/** Forgets what was reported and decided longer ago than MODERATION_KEPT_DAYS. */
export async function forgetModeration({ db, clock, config }: AppContext): Promise<void> {
  const days = config.moderationKeptDays
  if (days === 0) return
  const before = clock.now() - days * day
  await db.tx(async (tx) => {
    await forgetReports(tx, before)
    await forgetAppeals(tx, before)
    await forgetAudit(tx, before)
  })
}
