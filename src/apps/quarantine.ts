import { and, asc, eq, inArray, isNotNull, isNull, or, type SQL, sql } from 'drizzle-orm'

import type { AppContext } from '../kernel/context.ts'
import type { Db } from '../kernel/db/engine.ts'
import { findSuspensionReason } from '../people/agents/agents.ts'
import { recordAudit } from '../people/audit/audit.ts'
import { notify } from '../people/notifications/notifications.ts'
import type { App } from './apps.ts'
import { blockPage, lockPage, showsBlockedPage, unblockPagesOf } from './blocked-pages.ts'
import { quarantineNotification } from './notifications.ts'
import { apps, type QuarantineSource, versions } from './tables.ts'

export interface Quarantine {
  by: QuarantineSource
  reason: string
}

/** Condition for apps that are neither deleted nor taken down. */
export const isLive = and(isNull(apps.closed), isNull(apps.takenDown))

/** Column values of an app that is not in quarantine. */
const notQuarantined = { quarantinedAt: null, quarantineReason: null, quarantinedBy: null }

const toPending = sql`case when ${apps.listed} = 'on' then 'pending' else ${apps.listed} end`
const fromPending = sql`case when ${apps.listed} = 'pending' then 'on' else ${apps.listed} end`
/** Pages may have been blocked during a quarantine for another reason, so these are rescanned. */
const rescanAfter = sql`case when ${apps.quarantinedBy} = 'scan' then ${apps.rules} else 0 end`
const quarantined = ({ clock }: AppContext, { by, reason }: Quarantine) => ({
  quarantinedAt: clock.now(),
  quarantineReason: reason,
  quarantinedBy: by,
  listed: toPending,
})
const released = { ...notQuarantined, listed: fromPending, rules: rescanAfter }

/**
 * Apps that each source may quarantine. The operator overrides reports, and reports override the
 * scan. A suspension overrides nothing, because every other source outlasts it.
 */
const mayQuarantine: Record<QuarantineSource, SQL | undefined> = {
  operator: undefined,
  reports: or(isNull(apps.quarantinedAt), inArray(apps.quarantinedBy, ['scan', 'suspension'])),
  scan: or(isNull(apps.quarantinedAt), eq(apps.quarantinedBy, 'suspension')),
  suspension: isNull(apps.quarantinedAt),
}

/** Quarantines an app, unless a stronger source already has. */
export async function quarantine(
  ctx: AppContext,
  db: Db,
  id: string,
  why: Quarantine,
): Promise<App | undefined> {
  const [app] = await db
    .update(apps)
    .set(quarantined(ctx, why))
    .where(and(eq(apps.id, id), isLive, mayQuarantine[why.by]))
    .returning()
  return app
}

export async function quarantineAndNotify(
  ctx: AppContext,
  db: Db,
  item: string,
  { by, reason }: Quarantine,
): Promise<App | undefined> {
  const app = await quarantine(ctx, db, item, { by, reason })
  if (!app) return undefined
  await recordAudit(ctx, db, { by, did: 'hold', item, why: reason })
  await notify(ctx, db, quarantineNotification(app, reason))
  return app
}

export const quarantineForFindings = (ctx: AppContext, db: Db, item: string, codes: string[]) =>
  quarantineAndNotify(ctx, db, item, {
    by: 'scan',
    reason: `the safety check found ${[...new Set(codes)].join(', ')}`,
  })

export const quarantineIfBlocked = async (ctx: AppContext, db: Db, id: string) =>
  (await showsBlockedPage(db, id)) ? quarantineForFindings(ctx, db, id, ['known.bad']) : undefined

/** Releases an app from quarantine (by this source), unless its maker is suspended. */
export async function releaseApp(
  ctx: AppContext,
  db: Db,
  id: string,
  by?: QuarantineSource,
): Promise<App | undefined> {
  const isQuarantined = by ? eq(apps.quarantinedBy, by) : isNotNull(apps.quarantinedAt)
  return liftSanction(ctx, db, and(eq(apps.id, id), isQuarantined), released)
}

/**
 * Lifts a sanction. Locks the maker before the app, as elsewhere, and quarantines the app again
 * when its maker is suspended.
 */
async function liftSanction(
  ctx: AppContext,
  db: Db,
  condition: SQL | undefined,
  changes: Partial<App> | typeof released,
): Promise<App | undefined> {
  const [known] = await db.select({ maker: apps.maker }).from(apps).where(condition)
  const reason = known ? await findSuspensionReason(db, known.maker) : null
  const [app] = await db.update(apps).set(changes).where(condition).returning()
  if (!app || reason === null) return app
  await quarantineAll(ctx, db, app.maker, reason)
  const [current = app] = await db.select().from(apps).where(eq(apps.id, app.id))
  return current
}

/** Quarantines a suspended agent's apps. A null reason releases them. */
export async function quarantineAll(
  ctx: AppContext,
  db: Db,
  maker: string,
  reason: string | null,
): Promise<void> {
  const own = eq(apps.maker, maker)
  await (reason === null
    ? db
        .update(apps)
        .set(released)
        .where(and(own, eq(apps.quarantinedBy, 'suspension')))
    : db
        .update(apps)
        .set(quarantined(ctx, { by: 'suspension', reason }))
        .where(and(own, mayQuarantine.suspension)))
}

export const listQuarantined = ({ db }: AppContext, limit: number): Promise<App[]> =>
  db.read
    .select()
    .from(apps)
    .where(isNotNull(apps.quarantinedAt))
    .orderBy(asc(apps.quarantinedAt), asc(apps.id))
    .limit(limit)

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
