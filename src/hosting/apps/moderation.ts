import {
  and,
  asc,
  desc,
  eq,
  inArray,
  isNotNull,
  isNull,
  lt,
  ne,
  or,
  type SQL,
  sql,
} from 'drizzle-orm'

import type { AppContext } from '../../context.ts'
import type { Db } from '../../db/engine.ts'
import { changedRowCount } from '../../db/query.ts'
import { rulesVersion } from '../../scan/rules.ts'
import { findSuspensionReason } from '../agents/suspension.ts'
import type { App, Version } from './apps.ts'
import { unblockPagesOf, lockPage, blockPage } from './blocked-pages.ts'
import type { ScanRecord } from './page-content.ts'
import { apps, type QuarantineSource, versions } from './tables.ts'

/** Why an app is held back, and who wants that. */
export interface Quarantine {
  by: QuarantineSource
  reason: string
}

const isOpen = and(isNull(apps.closed), isNull(apps.takenDown))
const free = { heldAt: null, heldFor: null, heldBy: null }

/**
 * Takes an app down, inside a transaction: every operation on it answers 410, its link too, and the
 * same pages, of any of its versions, cannot come back; where else they stand they are read again.
 * Undefined when there is no such app, or it is down already.
 */
export async function takeDown(
  { clock }: AppContext,
  db: Db,
  id: string,
  reason: string,
): Promise<App | undefined> {
  const at = clock.now()
  // Who keeps one of these pages locks it first, and an app after it.
  for (const sha256 of await hashesOf(db, id)) await lockPage(db, sha256)
  const [app] = await db
    .update(apps)
    .set({ takenDown: at, takenDownFor: reason, listed: 'off', ...free, updated: at })
    .where(and(eq(apps.id, id), isNull(apps.takenDown)))
    .returning()
  if (!app) return undefined
  for (const sha256 of await hashesOf(db, id)) {
    await blockPage(db, { sha256, app: id, reason, at })
    await rescanPage(db, sha256)
  }
  return app
}

/** The hashes of every page an app ever showed, in order; at most `versionsPerAppMax`. */
async function hashesOf(db: Db, id: string): Promise<string[]> {
  const rows = await db
    .selectDistinct({ sha256: versions.sha256 })
    .from(versions)
    .where(eq(versions.app, id))
    .orderBy(asc(versions.sha256))
  return rows.map(({ sha256 }) => sha256)
}

/** Has every app that keeps this page read again by the scan. */
export async function rescanPage(db: Db, sha256: string): Promise<void> {
  const keeping = db.select({ app: versions.app }).from(versions).where(eq(versions.sha256, sha256))
  await db.update(apps).set({ rules: 0 }).where(inArray(apps.id, keeping))
}

/** Has an app that is there, or every one, read again. False when there is none. */
export async function requestRescan(db: Db, id?: string): Promise<boolean> {
  const asked = await db
    .update(apps)
    .set({ rules: 0 })
    .where(and(isOpen, id === undefined ? undefined : eq(apps.id, id)))
  return changedRowCount(asked) > 0
}

/**
 * Undoes a takedown, inside a transaction: the app is live again, off Explore, and what was held
 * for the same pages is read again. The app as it then is; undefined when none was taken down.
 */
export async function reinstate(ctx: AppContext, db: Db, id: string): Promise<App | undefined> {
  const it = and(eq(apps.id, id), isNotNull(apps.takenDown))
  const why = await whyWithMaker(db, it)
  const [app] = await db
    .update(apps)
    .set({ takenDown: null, takenDownFor: null, updated: ctx.clock.now() })
    .where(it)
    .returning()
  if (!app) return undefined
  for (const sha256 of await unblockPagesOf(db, id)) await rescanPage(db, sha256)
  return asItIs(ctx, db, app, why)
}

/**
 * Holds an app back until somebody has looked at it, inside a transaction: off Explore, and a
 * warning on its link. Undefined when there is none to hold, or it is held already.
 */
export async function quarantine(
  { clock }: AppContext,
  db: Db,
  id: string,
  { by, reason }: Quarantine,
): Promise<App | undefined> {
  const [app] = await db
    .update(apps)
    .set({ heldAt: clock.now(), heldFor: reason, heldBy: by, listed: awaiting })
    .where(and(eq(apps.id, id), isOpen, mayHold[by]))
    .returning()
  return app
}

/**
 * A person's word goes before reports, and these before a rule. A suspension comes last, since all
 * others outlast it.
 */
const mayHold: Record<QuarantineSource, SQL | undefined> = {
  operator: undefined,
  reports: or(isNull(apps.heldAt), inArray(apps.heldBy, ['scan', 'suspension'])),
  scan: or(isNull(apps.heldAt), eq(apps.heldBy, 'suspension')),
  suspension: isNull(apps.heldAt),
}

const awaiting = sql`case when ${apps.listed} = 'on' then 'pending' else ${apps.listed} end`
const asBefore = sql`case when ${apps.listed} = 'pending' then 'on' else ${apps.listed} end`
/** What was held for another reason is read again: its page may be blocked since. */
const unlessRead = sql`case when ${apps.heldBy} = 'scan' then ${apps.rules} else 0 end`
const released = { ...free, listed: asBefore, rules: unlessRead }

/**
 * Shows a held app again, inside a transaction, once its maker is not suspended. The app as it then
 * is; undefined when it was not held (by that).
 */
export async function releaseApp(
  ctx: AppContext,
  db: Db,
  id: string,
  by?: QuarantineSource,
): Promise<App | undefined> {
  const held = by ? eq(apps.heldBy, by) : isNotNull(apps.heldAt)
  const it = and(eq(apps.id, id), held)
  const why = await whyWithMaker(db, it)
  const [app] = await db.update(apps).set(released).where(it).returning()
  return app && asItIs(ctx, db, app, why)
}

/** An app that was shown again, held back once more where its maker is suspended (`why`). */
async function asItIs(ctx: AppContext, db: Db, app: App, why: string | null): Promise<App> {
  if (why === null) return app
  await quarantineAll(ctx, db, app.maker, why)
  const [now = app] = await db.select().from(apps).where(eq(apps.id, app.id))
  return now
}

/** Why the maker of an app is suspended: its row is locked before the app's own, as elsewhere. */
async function whyWithMaker(db: Db, it: SQL | undefined): Promise<string | null> {
  const [app] = await db.select({ maker: apps.maker }).from(apps).where(it)
  return app ? findSuspensionReason(db, app.maker) : null
}

/** Holds all that an agent made, or shows again what was held with it, inside a transaction. */
export async function quarantineAll(
  { clock }: AppContext,
  db: Db,
  maker: string,
  reason: string | null,
): Promise<void> {
  const own = eq(apps.maker, maker)
  if (reason === null) {
    await db
      .update(apps)
      .set(released)
      .where(and(own, eq(apps.heldBy, 'suspension')))
    return
  }
  const held = { heldAt: clock.now(), heldFor: reason, heldBy: 'suspension' as const }
  await db
    .update(apps)
    .set({ ...held, listed: awaiting })
    .where(and(own, mayHold.suspension))
}

/** Apps that are held back, those first that have waited longest. */
export const listQuarantined = ({ db }: AppContext, limit: number): Promise<App[]> =>
  db.read
    .select()
    .from(apps)
    .where(isNotNull(apps.heldAt))
    .orderBy(asc(apps.heldAt), asc(apps.id))
    .limit(limit)

/** Apps whose pages were read by earlier rules, at most `limit`. */
export const listOutdated = ({ db }: AppContext, limit: number): Promise<App[]> =>
  db.read
    .select()
    .from(apps)
    .where(and(lt(apps.rules, rulesVersion), isOpen))
    .orderBy(asc(apps.rules), asc(apps.id))
    .limit(limit)

/** The versions of an app that somebody may be shown: its newest and the one on Explore. */
export const listVisibleVersions = ({ db }: AppContext, app: App): Promise<Version[]> =>
  db.read
    .select()
    .from(versions)
    .where(
      and(
        eq(versions.app, app.id),
        or(eq(versions.version, app.version), eq(versions.version, app.listedVersion ?? 0)),
      ),
    )
    .orderBy(desc(versions.version))

/** Keeps what the scan says of a version now, inside a transaction. */
export async function recordScan(
  db: Db,
  { app, version, verdict, findings, scanned }: Pick<Version, 'app' | 'version'> & ScanRecord,
): Promise<void> {
  const it = and(eq(versions.app, app), eq(versions.version, version))
  await db.update(versions).set({ verdict, findings, scanned }).where(it)
}

/**
 * Notes that an app's pages were read by the rules of now, inside a transaction. The app as it is
 * then; undefined where another version came meanwhile, or it was asked to be read again.
 */
export async function markScanned(db: Db, { id, version, rules }: App): Promise<App | undefined> {
  const [app] = await db
    .update(apps)
    .set({ rules: rulesVersion })
    .where(and(eq(apps.id, id), eq(apps.version, version), eq(apps.rules, rules)))
    .returning()
  return app
}

/** Takes off Explore what may not be there any more, inside a transaction. */
export async function delistApp(db: Db, id: string): Promise<void> {
  const isOn = and(eq(apps.id, id), ne(apps.listed, 'off'))
  await db.update(apps).set({ listed: 'off' }).where(isOn)
}
