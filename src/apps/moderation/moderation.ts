import type { AppContext } from '../../kernel/context.ts'
import type { Db } from '../../kernel/db/engine.ts'
import { day } from '../../kernel/time.ts'
import { sentence } from '../../kernel/words/message.ts'
import { suspendAgent } from '../../people/agents/agents.ts'
import { deleteAuditBefore, recordAudit } from '../../people/audit/audit.ts'
import { type Notification, notify } from '../../people/notifications/notifications.ts'
import { setPageHidden } from '../../people/own-profile.ts'
import { findByName, normalizeName } from '../../people/people.ts'
import { deleteAppealsBefore, resolveAppeal } from '../appeal/appeals.ts'
import type { App } from '../apps.ts'
import { blockPage, unblockPage } from '../blocked-pages.ts'
import {
  describeStatus,
  quarantineNotification,
  reinstatedNotification,
  takedownNotification,
} from '../notifications.ts'
import * as quarantines from '../quarantine.ts'
import * as takedowns from '../quarantine.ts'
import { requestRescan } from '../scans/scans.ts'
import { closeReports, deleteReportsBefore } from './reports.ts'

type Decision = Parameters<typeof recordAudit>[2]

/** Applies and records a decision in one transaction. Returns false when it changes nothing. */
const decide = (
  ctx: AppContext,
  decision: Decision,
  apply: (db: Db) => Promise<boolean>,
): Promise<boolean> =>
  ctx.db.tx(async (db) => {
    if (!(await apply(db))) return false
    await recordAudit(ctx, db, decision)
    return true
  })

/** Applies a decision about an app, closes its reports and notifies its maker. */
const decideApp = (
  ctx: AppContext,
  decision: Decision,
  apply: (db: Db) => Promise<App | undefined>,
  notificationOf: (app: App) => Notification,
): Promise<boolean> =>
  decide(ctx, decision, async (db) => {
    const app = await apply(db)
    if (!app) return false
    await closeReports(ctx, db, { app: app.id })
    await notify(ctx, db, notificationOf(app))
    return true
  })

/** Takes an app down: its operations and its link return 410, and its pages are blocked. */
export const takeDown = (ctx: AppContext, item: string, why: string, by: string) =>
  decideApp(
    ctx,
    { did: 'takedown', item, why, by },
    (db) => takedowns.takeDown(ctx, db, item, why),
    (app) => takedownNotification(app, why),
  )

/** Applies a decision that lifts a sanction. It grants an open appeal. */
const lift = (
  ctx: AppContext,
  decision: Decision,
  apply: (db: Db) => Promise<App | undefined>,
): Promise<boolean> =>
  decideApp(
    ctx,
    decision,
    async (db) => {
      const app = await apply(db)
      if (app) await resolveAppeal(ctx, db, app.id, { state: 'granted', answer: decision.why })
      return app
    },
    reinstatedNotification,
  )

/** Undoes a takedown. The app is live and off Explore. */
export const reinstate = (ctx: AppContext, item: string, why: string, by: string) =>
  lift(ctx, { did: 'restore', item, why, by }, (db) => takedowns.reinstateApp(ctx, db, item))

export const quarantine = (ctx: AppContext, item: string, why: string, by: string) =>
  decideApp(
    ctx,
    { did: 'hold', item, why, by },
    (db) => quarantines.quarantine(ctx, db, item, { by: 'operator', reason: why }),
    (app) => quarantineNotification(app, why),
  )

/** Releases an app from quarantine and restores its place on Explore. */
export const release = (ctx: AppContext, item: string, why: string, by: string) =>
  lift(ctx, { did: 'release', item, why, by }, (db) => quarantines.releaseApp(ctx, db, item))

/** A granted appeal reinstates or releases the app. */
export const decideAppeal = (
  ctx: AppContext,
  item: string,
  isGranted: boolean,
  reply: string,
  by: string,
): Promise<boolean> => {
  const state = isGranted ? 'granted' : 'denied'
  return decide(ctx, { by, did: state, item, why: reply }, async (db) => {
    const appeal = await resolveAppeal(ctx, db, item, { state, answer: reply })
    if (!appeal) return false
    const app =
      isGranted &&
      ((await takedowns.reinstateApp(ctx, db, item)) ??
        (await quarantines.releaseApp(ctx, db, item)))
    if (app) await closeReports(ctx, db, { app: item })
    await notify(ctx, db, {
      to: appeal.maker,
      kind: 'appeal.decided',
      item,
      data: { state, answer: reply },
      text: [
        ...(app ? [describeStatus(app)] : []),
        isGranted
          ? sentence('Your appeal was granted: “{reply}”', { reply })
          : sentence('Your appeal was denied: “{reply}”', { reply }),
      ],
    })
    return true
  })
}

export const dismiss = (ctx: AppContext, item: string, why: string, by: string) =>
  decide(ctx, { by, did: 'dismiss', item, why }, (db) => closeReports(ctx, db, { app: item }))

/** Returns a decision about a person, whom the audit log has by their normalized name. */
const aboutPerson = (did: string, item: string, why: string, by: string): Decision => ({
  by,
  did,
  item: normalizeName(item) ?? item,
  why,
})

/** Closes the reports about the page of a person. */
export const dismissPage = (ctx: AppContext, name: string, why: string, by: string) =>
  decide(ctx, aboutPerson('dismiss-page', name, why, by), async (db) => {
    const person = await findByName(ctx, name)
    return person !== undefined && closeReports(ctx, db, { person: person.id })
  })

/** Hides the page of a person from everyone else, and closes its reports. */
export const hidePage = (ctx: AppContext, name: string, why: string, by: string) =>
  decide(ctx, aboutPerson('hide-page', name, why, by), async (db) => {
    const person = await setPageHidden(ctx, db, name, why)
    if (person) await closeReports(ctx, db, { person: person.id })
    return person !== undefined
  })

/** Shows the page of a person again. */
export const showPage = (ctx: AppContext, name: string, by: string) =>
  decide(ctx, aboutPerson('show-page', name, '', by), async (db) => {
    const person = await setPageHidden(ctx, db, name, null)
    return person !== undefined
  })

/** Disables the keys of an agent and quarantines its apps. A null reason ends the suspension. */
export async function suspend(
  ctx: AppContext,
  handle: string,
  why: string | null,
  by: string,
): Promise<boolean> {
  const did = why === null ? 'unsuspend' : 'suspend'
  const decision = { by, did, item: `@${handle}`, why: why ?? '' }
  const isDone = await decide(ctx, decision, async (db) => {
    const agent = await suspendAgent(ctx, db, handle, why)
    if (agent) await quarantines.quarantineAll(ctx, db, agent.id, why)
    return agent !== undefined
  })
  ctx.keys.forget()
  return isDone
}

export const block = (ctx: AppContext, sha256: string, why: string, by: string) =>
  decide(ctx, { by, did: 'block', item: sha256, why }, async (db) => {
    const page = { sha256, app: '', reason: why, at: ctx.clock.now() }
    const isNew = await blockPage(db, page)
    if (isNew) await takedowns.rescanPage(db, sha256)
    return isNew
  })

export const unblock = (ctx: AppContext, sha256: string, why: string, by: string) =>
  decide(ctx, { by, did: 'unblock', item: sha256, why }, async (db) => {
    const isBlocked = await unblockPage(db, sha256)
    if (isBlocked) await takedowns.rescanPage(db, sha256)
    return isBlocked
  })

/** Requests a rescan of an app, or of all apps with `all`. Maintenance runs it. */
export const rescan = (ctx: AppContext, item: string, by: string) =>
  decide(ctx, { by, did: 'rescan', item, why: '' }, (db) =>
    requestRescan(db, item === 'all' ? undefined : item),
  )

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
