import { and, asc, countDistinct, eq, gte, inArray, isNotNull, isNull, lt } from 'drizzle-orm'

import type { AppContext } from '../../kernel/context.ts'
import type { Db } from '../../kernel/db/engine.ts'
import { countRows, lock } from '../../kernel/db/query.ts'
import { ApiError, rejectRequest } from '../../kernel/errors.ts'
import { newId, sign } from '../../kernel/ids.ts'
import {
  reportCharsMax,
  reportContactCharsMax,
  reportersToQuarantine,
  reportsPerAddressDay,
} from '../../kernel/limits.ts'
import { isPlainLine, isPlainText } from '../../kernel/text.ts'
import { nextUtcDay, secondsUntil, utcDay } from '../../kernel/time.ts'
import { findPublicProfile } from '../../people/own-profile.ts'
import type { SessionSender } from '../../people/session-user.ts'
import { type App, findApp, requireAvailable } from '../apps.ts'
import { findOpenApp } from '../audience/access.ts'
import { quarantineAndNotify } from '../quarantine.ts'
import { isReason, type ReportReason } from './reasons.ts'
import { reports } from './tables.ts'

/** Reasons that quarantine an app after three reports. */
const dangers: ReportReason[] = ['phishing', 'malware']

export type Report = typeof reports.$inferSelect

/** An app, or a person whose page was reported. */
export type Reported = { app: string } | { person: string }

export interface ReportInput {
  reason: string
  text?: string | undefined
  contact?: string | undefined
}

/** Returns an app that its reporter may open. Throws `not_found` and `taken_down`. */
export const getReportedApp = async (
  ctx: AppContext,
  id: string,
  sender: SessionSender,
): Promise<App> => {
  const app = await findOpenApp(ctx, id, sender)
  if (app) return requireAvailable(app)
  throw new ApiError('not_found', { what: 'app', see: 'An id is the end of a link.' })
}

/**
 * Three reports of phishing or malware quarantine the app. Throws `not_found`, `taken_down`,
 * `bad_request`, `try_again`, and `reports_limit` after five a day from one address.
 */
export async function createReport(
  ctx: AppContext,
  id: string,
  input: ReportInput,
  address: string,
): Promise<Report> {
  ctx.storage.requireFreeSpace(0)
  const app = requireAvailable(await findApp(ctx, id))
  return storeReport(ctx, { app: app.id }, input, address, (db) =>
    quarantineAfterReports(ctx, db, app),
  )
}

/**
 * Reports the public page of a person. Throws `not_found`, `bad_request`, `try_again` and
 * `reports_limit`.
 */
export async function createPageReport(
  ctx: AppContext,
  handle: string,
  input: ReportInput,
  address: string,
): Promise<Report> {
  ctx.storage.requireFreeSpace(0)
  const { person } = await getReportedPage(ctx, handle)
  return storeReport(ctx, { person: person.id }, input, address)
}

/** Returns the public page with a handle, and its person. Throws `not_found`. */
export async function getReportedPage(ctx: AppContext, handle: string) {
  const found = await findPublicProfile(ctx, handle)
  if (found) return found
  throw new ApiError('not_found', { what: 'person', see: 'Only public pages can be reported.' })
}

async function storeReport(
  ctx: AppContext,
  reported: Reported,
  { reason, text = '', contact }: ReportInput,
  address: string,
  afterDanger?: (db: Db) => Promise<void>,
): Promise<Report> {
  const isFine = isReason(reason) && isPlainText(text, reportCharsMax)
  if (!isFine || !isPlainLine(contact ?? '', reportContactCharsMax)) {
    rejectRequest(
      `Choose a reason. The text may have ${reportCharsMax} characters, and the contact must be ` +
        `one line of at most ${reportContactCharsMax} characters.`,
    )
  }
  const at = ctx.clock.now()
  const from = sign(ctx.secret, `report ${address}`)
  return ctx.db.tx(async (db) => {
    await lock(db, 'reports')
    await checkReports(db, from, at)
    const about = { app: '', person: null, ...reported }
    const content = { ...about, reason, text, contact: contact || null, from }
    // A repeat counts for the limit, but moderators see the report once.
    const handled = (await hasOpenReport(db, content)) ? at : null
    const row = { ...content, at, handled }
    const [report] = await db
      .insert(reports)
      .values({ ...row, id: newId() })
      .returning()
    if (!report) throw new Error('the insert returned no report')
    if (dangers.includes(reason)) await afterDanger?.(db)
    return report
  })
}

async function checkReports(db: Db, from: string, at: number): Promise<void> {
  const today = and(eq(reports.from, from), gte(reports.at, Date.parse(utcDay(at))))
  if ((await countRows(db, reports, today)) < reportsPerAddressDay) return
  const retryAfter = secondsUntil(nextUtcDay(at), at)
  throw new ApiError('reports_limit', { max: reportsPerAddressDay, retryAfter })
}

const isOpen = isNull(reports.handled)

/** Returns whether an identical report of the same reporter waits for a decision. */
async function hasOpenReport(
  db: Db,
  { app, person, reason, text, contact, from }: Omit<Report, 'id' | 'at' | 'handled'>,
): Promise<boolean> {
  const isSame = and(
    isAbout(person === null ? { app } : { person }),
    eq(reports.from, from),
    eq(reports.reason, reason),
    eq(reports.text, text),
    contact === null ? isNull(reports.contact) : eq(reports.contact, contact),
  )
  return (await countRows(db, reports, and(isOpen, isSame))) > 0
}

async function quarantineAfterReports(ctx: AppContext, db: Db, app: App): Promise<void> {
  const [row] = await db
    .select({ reporters: countDistinct(reports.from) })
    .from(reports)
    .where(and(isOpen, eq(reports.app, app.id), inArray(reports.reason, dangers)))
  if ((row?.reporters ?? 0) < reportersToQuarantine) return
  const reason = 'people reported phishing or malware'
  await quarantineAndNotify(ctx, db, app.id, { by: 'reports', reason })
}

/** Apps or people, of which each has reports. */
type ReportedKind = 'apps' | 'people'

const isAboutKind = (kind: ReportedKind) =>
  kind === 'apps' ? isNull(reports.person) : isNotNull(reports.person)

const isAbout = (reported: Reported) =>
  'app' in reported ? eq(reports.app, reported.app) : eq(reports.person, reported.person)

/** Closes the reports about something in a transaction. Returns false when there were none. */
export async function closeReports(
  { clock }: AppContext,
  db: Db,
  reported: Reported,
): Promise<boolean> {
  const closed = await db
    .update(reports)
    .set({ handled: clock.now() })
    .where(and(isOpen, isAbout(reported)))
    .returning({ id: reports.id })
  return closed.length > 0
}

/** Returns open reports, oldest first: all, those about one app or person, or those of a kind. */
export const listReports = (
  { db }: AppContext,
  limit: number,
  about?: Reported | ReportedKind,
): Promise<Report[]> =>
  db.read
    .select()
    .from(reports)
    .where(and(isOpen, about && (typeof about === 'string' ? isAboutKind(about) : isAbout(about))))
    .orderBy(asc(reports.at), asc(reports.id))
    .limit(limit)

export async function deleteReportsBefore(db: Db, before: number): Promise<void> {
  await db.delete(reports).where(lt(reports.at, before))
}
