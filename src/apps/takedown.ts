import { and, asc, eq, inArray, isNotNull, isNull } from 'drizzle-orm'

import type { Db } from '../kernel/db/engine.ts'
import type { AppContext } from '../server/context.ts'
import type { App } from './apps.ts'
import { blockPage, lockPage, unblockPagesOf } from './blocked-pages.ts'
import { liftSanction, notQuarantined, quarantineIfBlocked } from './quarantine.ts'
import { apps, versions } from './tables.ts'

/** Takes an app down, blocks the pages of all its versions and rescans other apps with them. */
export async function takeDown(
  { clock }: AppContext,
  db: Db,
  id: string,
  reason: string,
): Promise<App | undefined> {
  const at = clock.now()
  // Publishing locks the page first and the app after it.
  for (const sha256 of await listHashes(db, id)) await lockPage(db, sha256)
  const [app] = await db
    .update(apps)
    .set({ takenDown: at, takedownReason: reason, listed: 'off', ...notQuarantined, updated: at })
    .where(and(eq(apps.id, id), isNull(apps.takenDown)))
    .returning()
  if (!app) return undefined
  for (const sha256 of await listHashes(db, id)) {
    await blockPage(db, { sha256, app: id, reason, at })
    await rescanPage(db, sha256)
  }
  return app
}

/** Returns the hashes of all pages of an app, sorted; at most `versionsPerAppMax`. */
async function listHashes(db: Db, id: string): Promise<string[]> {
  const rows = await db
    .selectDistinct({ sha256: versions.sha256 })
    .from(versions)
    .where(eq(versions.app, id))
    .orderBy(asc(versions.sha256))
  return rows.map(({ sha256 }) => sha256)
}

/** Requests a rescan of every app that has this page. */
export async function rescanPage(db: Db, sha256: string): Promise<void> {
  const withPage = db
    .select({ app: versions.app })
    .from(versions)
    .where(eq(versions.sha256, sha256))
  await db.update(apps).set({ rules: 0 }).where(inArray(apps.id, withPage))
}

/**
 * Undoes a takedown. The app stays quarantined when a page is still blocked or its maker is
 * suspended.
 */
export async function reinstateApp(ctx: AppContext, db: Db, id: string): Promise<App | undefined> {
  const isDown = and(eq(apps.id, id), isNotNull(apps.takenDown))
  const unblocked = { takenDown: null, takedownReason: null, updated: ctx.clock.now() }
  const app = await liftSanction(ctx, db, isDown, unblocked)
  if (!app) return undefined
  for (const sha256 of await unblockPagesOf(db, id)) await rescanPage(db, sha256)
  return (await quarantineIfBlocked(ctx, db, id)) ?? app
}
