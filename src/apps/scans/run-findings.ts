import { and, eq } from 'drizzle-orm'

import type { AppContext } from '../../server/context.ts'
import { type App, findApp } from '../apps.ts'
import { departureFindings, withoutRunFindings } from '../page-content.ts'
import { versions } from '../tables.ts'
import { requestRescan, scanApp } from './scans.ts'

/**
 * Stores that a version tried to open URLs when it was run, and scans its app again, which takes it
 * off Explore. Maintenance repeats the scan where it cannot run now. Throws `try_again`.
 */
export async function recordDepartures(
  ctx: AppContext,
  app: App,
  version: number,
  urls: string[],
): Promise<void> {
  const isVersion = and(eq(versions.app, app.id), eq(versions.version, version))
  await ctx.db.tx(async (db) => {
    // A scan that runs now knows nothing of the run, and must not store its result.
    await requestRescan(db, app.id)
    const [row] = await db.select().from(versions).where(isVersion)
    if (!row) return
    const findings = [...departureFindings(urls), ...withoutRunFindings(row)]
    const verdict = row.verdict === 'clean' ? 'warn' : row.verdict
    await db.update(versions).set({ findings, verdict }).where(isVersion)
  })
  const now = await findApp(ctx, app.id)
  if (now) await scanApp(ctx, now)
}
