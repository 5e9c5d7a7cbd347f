import { and, asc, desc, eq, lt, ne, or } from 'drizzle-orm'

import type { AppContext } from '../../kernel/context.ts'
import type { Db } from '../../kernel/db/engine.ts'
import { changedRowCount } from '../../kernel/db/query.ts'
import { ApiError } from '../../kernel/errors.ts'
import { second, stopwatch } from '../../kernel/time.ts'
import type { Agent } from '../../people/agents/agents.ts'
import { recordAudit } from '../../people/audit/audit.ts'
import { notify } from '../../people/notifications/notifications.ts'
import { type App, checkBuilt, findApp, getOwnApp, getVersion, type Version } from '../apps.ts'
import { readCode } from '../assets/folder-assets.ts'
import type { ContentInspection } from '../content-scan.ts'
import { kinds } from '../kinds.ts'
import { delistedNotification, reinstatedNotification } from '../notifications.ts'
import * as pages from '../page-content.ts'
import { isLive, quarantineForFindings, releaseApp } from '../quarantine.ts'
import { rulesVersion } from '../scan/rules.ts'
import { apps, versions } from '../tables.ts'

/** Throws `not_found`, `taken_down` and `busy`. */
export async function getScan(ctx: AppContext, maker: Agent, id: string): Promise<Version> {
  const app = await getOwnApp(ctx, maker, id, kinds)
  checkBuilt(app)
  return getVersion(ctx, id, app.version)
}

/**
 * Scans the visible pages of an app with the current rules. Blocked pages quarantine it, pages not
 * allowed on Explore delist it, and a scan quarantine ends when nothing blocks. Throws `not_found`,
 * `taken_down`, `busy` and `try_again`.
 */
export async function rescan(ctx: AppContext, maker: Agent, id: string): Promise<Version> {
  const app = await getOwnApp(ctx, maker, id, kinds)
  checkBuilt(app)
  await scanApp(ctx, app)
  return getScan(ctx, maker, id)
}

/** Requests a rescan of an app, or of all live apps. Returns false when there is none. */
export async function requestRescan(db: Db, id?: string): Promise<boolean> {
  const changed = await db
    .update(apps)
    .set({ rules: 0 })
    .where(and(isLive, id === undefined ? undefined : eq(apps.id, id)))
  return changedRowCount(changed) > 0
}

const attemptsMax = 3

/** Scans the visible versions and applies the result. Starts again after a concurrent publish. */
async function scanApp(ctx: AppContext, known: App): Promise<void> {
  let app: App | undefined = known
  for (let attempt = 0; app && attempt < attemptsMax; attempt += 1) {
    const [before, scans] = [app, await scanVersions(ctx, app)]
    if (await ctx.db.tx((db) => applyScans(ctx, db, before, scans))) return
    app = await findApp(ctx, known.id)
  }
}

interface VersionScan {
  row: Version
  inspection: ContentInspection
}

async function scanVersions(ctx: AppContext, app: App): Promise<VersionScan[]> {
  const isVisible = or(
    eq(versions.version, app.version),
    eq(versions.version, app.listedVersion ?? 0),
  )
  const rows = await ctx.db.read
    .select()
    .from(versions)
    .where(and(eq(versions.app, app.id), isVisible))
    .orderBy(desc(versions.version))
  const scans: VersionScan[] = []
  for (const row of rows) {
    const { identity } = await pages.readPage(ctx, row)
    const code = { ...(await readCode(ctx, row)), pinned: row.libraries }
    const inspection = await pages.scanContent(ctx, app.kind, identity, code)
    scans.push({ row, inspection: pages.withRunFindings(inspection, row) })
  }
  return scans
}

/** Stores scan results and applies them. Returns false when the app changed since the scan. */
async function applyScans(
  ctx: AppContext,
  db: Db,
  before: App,
  scans: VersionScan[],
): Promise<boolean> {
  const app = await markScanned(db, before)
  if (!app) return false
  for (const { row, inspection } of scans) {
    const isRow = and(eq(versions.app, row.app), eq(versions.version, row.version))
    const { uses = null } = inspection
    await db
      .update(versions)
      .set({ ...pages.toScanRecord(ctx, inspection), uses })
      .where(isRow)
  }
  const codes = scans.flatMap(({ inspection }) =>
    inspection.scan.findings.flatMap(({ effect, code }) => (effect === 'block' ? [code] : [])),
  )
  const isBlocked = scans.some(({ inspection }) => inspection.scan.verdict === 'block')
  if (isBlocked) await quarantineForFindings(ctx, db, app.id, codes)
  else await applyPassedScan(ctx, db, app, scans)
  return true
}

/** Marks an app as scanned by the current rules. Returns undefined when the app has changed. */
async function markScanned(db: Db, { id, version, rules }: App): Promise<App | undefined> {
  const [app] = await db
    .update(apps)
    .set({ rules: rulesVersion })
    .where(and(eq(apps.id, id), eq(apps.version, version), eq(apps.rules, rules)))
    .returning()
  return app
}

/** Ends a scan quarantine, and delists the app when its listed page is not allowed on Explore. */
async function applyPassedScan(
  ctx: AppContext,
  db: Db,
  app: App,
  scans: VersionScan[],
): Promise<void> {
  const { id: item } = app
  const released = await releaseApp(ctx, db, item, 'scan')
  if (released) {
    const why = 'the safety check passed'
    await recordAudit(ctx, db, { by: 'scan', did: 'release', item, why })
    await notify(ctx, db, reinstatedNotification(released))
  }
  const listed = scans.find(({ row }) => row.version === app.listedVersion)
  const reasons = app.listed === 'off' || !listed ? [] : pages.listingIssues(listed.inspection, app)
  if (reasons.length === 0) return
  const isOn = and(eq(apps.id, item), ne(apps.listed, 'off'))
  await db.update(apps).set({ listed: 'off' }).where(isOn)
  await recordAudit(ctx, db, { by: 'scan', did: 'delist', item, why: reasons.join(' ') })
  await notify(ctx, db, delistedNotification(app, reasons))
}

const roundMs = 20 * second
const roundMax = 2_000
const batch = 50

/** Rescans outdated apps for at most 20 s. Pages that cannot be read are logged and skipped. */
export async function rescanOutdated(ctx: AppContext): Promise<void> {
  const until = stopwatch() + roundMs
  for (let done = 0; done < roundMax && stopwatch() < until;) {
    const outdated = await ctx.db.read
      .select()
      .from(apps)
      .where(and(lt(apps.rules, rulesVersion), isLive))
      .orderBy(asc(apps.rules), asc(apps.id))
      .limit(batch)
    if (outdated.length === 0) return
    done += outdated.length
    for (const app of outdated) if (!(await rescanOne(ctx, app))) return
  }
}

async function rescanOne(ctx: AppContext, app: App): Promise<boolean> {
  try {
    await scanApp(ctx, app)
  } catch (error) {
    if (error instanceof ApiError) return false
    ctx.log.error('rescan', error, { app: app.id })
    await ctx.db.tx((db) => markScanned(db, app))
  }
  return true
}

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
    const findings = [...pages.departureFindings(urls), ...pages.withoutRunFindings(row)]
    const verdict = row.verdict === 'clean' ? 'warn' : row.verdict
    await db.update(versions).set({ findings, verdict }).where(isVersion)
  })
  const now = await findApp(ctx, app.id)
  if (now) await scanApp(ctx, now)
}
