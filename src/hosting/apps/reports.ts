import { and, count, desc, eq, gte } from 'drizzle-orm'

import { newId, sign } from '../../core/ids.ts'
import { isPlainText } from '../../core/text.ts'
import { nextUtcDay, utcDay } from '../../core/time.ts'
import type { House } from '../../house.ts'
import { reportCharsMax, reportsPerAddressDay } from '../../limits.ts'
import { Refusal } from '../../refusals.ts'
import { type App, find } from './apps.ts'
import { reports } from './tables.ts'

/** Why an app is reported, with the words of the form. */
export const reportReasons = {
  phishing: 'It asks for passwords or money',
  malware: 'It harms the device',
  abuse: 'It attacks or harasses people',
  copy: 'It copies someone’s work',
  other: 'Something else',
} as const

export type Report = typeof reports.$inferSelect

/** The app a report is about. Refuses not_found. */
export async function theReported(house: House, id: string): Promise<App> {
  const app = await find(house, id)
  if (app && app.closed === null) return app
  throw new Refusal('not_found', { what: 'app' })
}

/**
 * Keeps a report for the operator; no key is needed. Refuses not_found, bad_request, and
 * rate_limited past five a day from one address.
 */
export async function report(
  house: House,
  id: string,
  said: { reason: string; text: string },
  address: string,
): Promise<void> {
  const app = await theReported(house, id)
  const { reason, text } = said
  if (!Object.hasOwn(reportReasons, reason) || !isPlainText(text, reportCharsMax)) {
    const problem = `Choose a reason, and say what you saw in at most ${reportCharsMax} characters.`
    throw new Refusal('bad_request', { problem })
  }
  const at = house.clock.now()
  const from = sign(house.secret, `report ${address}`)
  const today = gte(reports.at, Date.parse(utcDay(at)))
  await house.db.tx(async (db) => {
    const [row] = await db
      .select({ sent: count().mapWith(Number) })
      .from(reports)
      .where(and(eq(reports.from, from), today))
    if ((row?.sent ?? 0) >= reportsPerAddressDay) {
      const retryAfter = Math.ceil((nextUtcDay(at) - at) / 1_000)
      throw new Refusal('rate_limited', { max: reportsPerAddressDay, retryAfter })
    }
    await db.insert(reports).values({ id: newId(), app: app.id, reason, text, from, at })
  })
}

/** The newest reports, for the operator. */
export const listReports = (house: House, limit: number): Promise<Report[]> =>
  house.db.read.select().from(reports).orderBy(desc(reports.at)).limit(limit)
