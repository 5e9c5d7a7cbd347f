import type { AppContext } from '../../../context.ts'
import { second, stopwatch } from '../../../core/time.ts'
import type { Db } from '../../../db/engine.ts'
import { ApiError } from '../../../errors.ts'
import type { Inspection } from '../../../scan/inspection.ts'
import type { Agent } from '../../agents/agents.ts'
import { type App, checkBuilt, findApp, getOwnApp, getVersion, type Version } from '../apps.ts'
import * as rows from '../moderation.ts'
import * as pages from '../page-content.ts'
import { notify } from '../../notifications/notifications.ts'
import { recordAudit } from '../../audit/audit.ts'
import { quarantineForFindings } from '../quarantine.ts'
import { delistedNews, restoredNews } from '../notifications.ts'

/** The newest page of an own app, with its scan. Refuses not_found, taken_down, busy. */
export async function getScan(ctx: AppContext, maker: Agent, id: string): Promise<Version> {
  const app = await getOwnApp(ctx, maker, id)
  checkBuilt(app)
  return getVersion(ctx, id, app.version)
}

/**
 * Has an own app's pages read by the rules of now. What may not be hosted is held back, what may
 * not be on Explore leaves it, and what a rule held back is shown again once it is mended.
 */
export async function rescan(ctx: AppContext, maker: Agent, id: string): Promise<Version> {
  await getScan(ctx, maker, id)
  const app = await getOwnApp(ctx, maker, id)
  await readNow(ctx, app, maker.id)
  return getScan(ctx, maker, id)
}

const triesMax = 3

/** Reads what an app shows and judges it: anew where another version came meanwhile. */
async function readNow(ctx: AppContext, known: App, maker?: string): Promise<void> {
  let app: App | undefined = known
  for (let tries = 0; app && tries < triesMax; tries += 1) {
    const [before, looked] = [app, await lookAt(ctx, app, maker)]
    if (await ctx.db.tx((db) => judge(ctx, db, before, looked))) return
    app = await findApp(ctx, known.id)
  }
}

interface Looked {
  row: Version
  inspection: Inspection
}

async function lookAt(ctx: AppContext, app: App, maker?: string): Promise<Looked[]> {
  const looked: Looked[] = []
  for (const row of await rows.listVisibleVersions(ctx, app)) {
    const { identity } = await pages.readPage(ctx, row)
    looked.push({ row, inspection: await pages.scanPage(ctx, identity, maker) })
  }
  return looked
}

const isBlocked = (looked: Looked[]): boolean =>
  looked.some(({ inspection }) => inspection.scan.verdict === 'block')

/**
 * Keeps what was seen, and does what follows from it, inside a transaction. False where it was seen
 * of what the app shows no more.
 */
async function judge(ctx: AppContext, db: Db, before: App, looked: Looked[]): Promise<boolean> {
  const app = await rows.markScanned(db, before)
  if (!app) return false
  for (const { row, inspection } of looked) {
    await rows.recordScan(db, { ...row, ...pages.toScanRecord(ctx, inspection) })
  }
  await follow(ctx, db, app, looked)
  return true
}

async function follow(ctx: AppContext, db: Db, app: App, looked: Looked[]): Promise<void> {
  const { id: item } = app
  if (isBlocked(looked)) {
    const codes = looked.flatMap(({ inspection }) =>
      inspection.scan.findings.flatMap(({ effect, code }) => (effect === 'block' ? [code] : [])),
    )
    await quarantineForFindings(ctx, db, item, codes)
    return
  }
  const released = await rows.releaseApp(ctx, db, item, 'scan')
  if (released) {
    await recordAudit(ctx, db, { by: 'scan', did: 'release', item, why: 'the safety check is content' })
    await notify(ctx, db, restoredNews(released))
  }
  const listed = looked.find(({ row }) => row.version === app.listedVersion)
  const reasons = app.listed === 'off' || !listed ? [] : pages.listingIssues(listed.inspection, app)
  if (reasons.length === 0) return
  await rows.delistApp(db, item)
  await recordAudit(ctx, db, { by: 'scan', did: 'delist', item, why: reasons.join(' ') })
  await notify(ctx, db, delistedNews(app, reasons))
}

const roundMs = 20 * second
const roundMax = 2_000
const batch = 50

/**
 * Reads again what was read by earlier rules, and what keeps a page that was blocked since: as much
 * as fits in a round of 20 s. A page that cannot be read is a fault of ours and is passed over.
 */
export async function rescanOutdated(ctx: AppContext): Promise<void> {
  const until = stopwatch() + roundMs
  for (let done = 0; done < roundMax && stopwatch() < until;) {
    const unread = await rows.listOutdated(ctx, batch)
    if (unread.length === 0) return
    done += unread.length
    for (const app of unread) if (!(await rescanOne(ctx, app))) return
  }
}

/** False when nothing more can be read just now. */
async function rescanOne(ctx: AppContext, app: App): Promise<boolean> {
  try {
    await readNow(ctx, app)
  } catch (error) {
    if (error instanceof ApiError) return false
    ctx.log.fault('rescan', error, { app: app.id })
    await ctx.db.tx((db) => rows.markScanned(db, app))
  }
  return true
}
