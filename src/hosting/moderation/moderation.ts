import type { AppContext } from '../../context.ts'
import type { Db } from '../../db/engine.ts'
import * as agents from '../agents/suspension.ts'
import type { App } from '../apps/apps.ts'
import { unblockPage, blockPage } from '../apps/blocked-pages.ts'
import * as rows from '../apps/moderation.ts'
import { type Notification, notify } from '../notifications/notifications.ts'
import { resolveAppeal } from '../apps/appeal/appeals.ts'
import { recordAudit } from '../audit/audit.ts'
import { reinstateApp } from '../apps/quarantine.ts'
import { heldNews, restoredNews, takenDownNews } from '../apps/notifications.ts'
import { closeReports } from '../reports/reports.ts'

/** Who decides at the command line, where there is no name. */
const operator = 'operator'

/** A decision about an app: its own change, the record of it, and the reports it answers. */
async function decide(
  ctx: AppContext,
  entry: { did: string; item: string; why: string; by: string },
  change: (db: Db) => Promise<App | undefined>,
  say: (app: App) => Notification,
): Promise<boolean> {
  return ctx.db.tx(async (db) => {
    const app = await change(db)
    if (!app) return false
    await closeReports(ctx, db, app.id)
    await recordAudit(ctx, db, entry)
    await notify(ctx, db, say(app))
    return true
  })
}

/**
 * Takes an app down: every operation on it answers 410, its link too, and its pages cannot come
 * back. False when there is no such app, or it is down already.
 */
export const takeDown = (
  ctx: AppContext,
  id: string,
  why: string,
  by = operator,
): Promise<boolean> =>
  decide(
    ctx,
    { did: 'takedown', item: id, why, by },
    (db) => rows.takeDown(ctx, db, id, why),
    (app) => takenDownNews(app, why),
  )

/** Shows an app again, which grants what its maker appealed. */
const showAgain = (
  ctx: AppContext,
  entry: Parameters<typeof decide>[1],
  change: (db: Db) => Promise<App | undefined>,
): Promise<boolean> =>
  decide(
    ctx,
    entry,
    async (db) => {
      const app = await change(db)
      if (app) await resolveAppeal(ctx, db, app.id, { state: 'granted', answer: entry.why })
      return app
    },
    restoredNews,
  )

/** Undoes a takedown; the app is live again, off Explore. False when none was taken down. */
export const reinstate = (
  ctx: AppContext,
  id: string,
  why: string,
  by = operator,
): Promise<boolean> =>
  showAgain(ctx, { did: 'restore', item: id, why, by }, (db) => reinstateApp(ctx, db, id))

/** Holds an app back until it is released. False when there is none that is live. */
export const quarantine = (ctx: AppContext, id: string, why: string, by = operator): Promise<boolean> =>
  decide(
    ctx,
    { did: 'hold', item: id, why, by },
    (db) => rows.quarantine(ctx, db, id, { by: 'operator', reason: why }),
    (app) => heldNews(app, why),
  )

/** Shows a held app again, on Explore too where it was there. False when it was not held. */
export const release = (
  ctx: AppContext,
  id: string,
  why: string,
  by = operator,
): Promise<boolean> =>
  showAgain(ctx, { did: 'release', item: id, why, by }, (db) => rows.releaseApp(ctx, db, id))

/** Closes the reports about an app that is fine. False when there are none. */
export const dismiss = (
  ctx: AppContext,
  id: string,
  why: string,
  by = operator,
): Promise<boolean> =>
  ctx.db.tx(async (db) => {
    if (!(await closeReports(ctx, db, id))) return false
    await recordAudit(ctx, db, { by, did: 'dismiss', item: id, why })
    return true
  })

/**
 * Suspends an agent: its keys stop working, and all it made is held back. Null lets it go on as
 * before. False when nobody has this handle, or it is so already.
 */
export async function suspend(
  ctx: AppContext,
  handle: string,
  why: string | null,
  by = operator,
): Promise<boolean> {
  const done = await ctx.db.tx(async (db) => {
    const agent = await agents.suspendAgent(ctx, db, handle, why)
    if (!agent) return false
    await rows.quarantineAll(ctx, db, agent.id, why)
    const did = why === null ? 'unsuspend' : 'suspend'
    await recordAudit(ctx, db, { by, did, item: `@${handle}`, why: why ?? '' })
    return true
  })
  ctx.keys.forget()
  return done
}

/** Blocks a page by its hash, wherever it is published or kept. False when it is so already. */
export const block = (
  ctx: AppContext,
  sha256: string,
  why: string,
  by = operator,
): Promise<boolean> =>
  ctx.db.tx(async (db) => {
    const page = { sha256, app: '', reason: why, at: ctx.clock.now() }
    if (!(await blockPage(db, page))) return false
    await rows.rescanPage(db, sha256)
    await recordAudit(ctx, db, { by, did: 'block', item: sha256, why })
    return true
  })

/** Lets a page come back that was blocked by its hash. False when none was. */
export const unblock = (
  ctx: AppContext,
  sha256: string,
  why: string,
  by = operator,
): Promise<boolean> =>
  ctx.db.tx(async (db) => {
    if (!(await unblockPage(db, sha256))) return false
    await rows.rescanPage(db, sha256)
    await recordAudit(ctx, db, { by, did: 'unblock', item: sha256, why })
    return true
  })

/**
 * Has the safety check of now read an app again, or with 'all' every one that is there: the chore
 * that reads after new rules does it, in rounds. False when there is nothing to read.
 */
export const rescan = (ctx: AppContext, item: string, by = operator): Promise<boolean> =>
  ctx.db.tx(async (db) => {
    const some = await rows.requestRescan(db, item === 'all' ? undefined : item)
    if (some) await recordAudit(ctx, db, { by, did: 'rescan', item, why: '' })
    return some
  })
