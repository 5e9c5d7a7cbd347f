import { and, asc, eq, lt, sql } from 'drizzle-orm'

import type { AppContext } from '../../../context.ts'
import { newId } from '../../../core/ids.ts'
import { isPlainText, sentence } from '../../../core/text.ts'
import type { Db } from '../../../db/engine.ts'
import { ApiError } from '../../../errors.ts'
import { appealCharsMax } from '../../../limits.ts'
import type { Agent } from '../../agents/agents.ts'
import { sanctionedAt, lockSanctionedAt } from '../against.ts'
import { type App, findApp } from '../apps.ts'
import { releaseApp } from '../moderation.ts'
import { notify } from '../../notifications/notifications.ts'
import { recordAudit } from '../../audit/audit.ts'
import { reinstateApp } from '../quarantine.ts'
import { standing } from '../notifications.ts'
import { closeReports } from '../../reports/reports.ts'
import { appeals } from '../../moderation/tables.ts'

export type Appeal = typeof appeals.$inferSelect

/**
 * Asks the operator to look again at an own app that is taken down or held back, once for each
 * time. Refuses not_found, bad_request, nothing_to_appeal, appealed_already.
 */
export async function createAppeal(
  ctx: AppContext,
  maker: Agent,
  id: string,
  text: string,
): Promise<Appeal> {
  const app = await findApp(ctx, id)
  if (app?.maker !== maker.id || app.closed !== null) {
    throw new ApiError('not_found', { what: 'app' })
  }
  if (!isPlainText(text, appealCharsMax) || text.trim() === '') {
    const problem = `"text" is plain text of 1 to ${appealCharsMax} characters.`
    throw new ApiError('bad_request', { problem })
  }
  const at = ctx.clock.now()
  const [made] = await ctx.db.tx(async (db) => {
    // It may be shown again in this moment: nobody would decide about it then.
    const since = await lockSanctionedAt(db, id)
    if (since === null) throw new ApiError('nothing_to_appeal')
    return db
      .insert(appeals)
      .values({ id: newId(), app: id, maker: maker.id, against: since, text, at, state: 'open' })
      .onConflictDoNothing()
      .returning()
  })
  if (!made) throw new ApiError('appealed_already')
  return made
}

/** The appeal against what is done to an app, if its maker made one. */
export async function findAppeal({ db }: AppContext, app: App): Promise<Appeal | undefined> {
  const at = sanctionedAt(app)
  if (at === null) return undefined
  const [made] = await db.read
    .select()
    .from(appeals)
    .where(and(eq(appeals.app, app.id), eq(appeals.against, at)))
  return made
}

/** Appeals that wait for an answer, oldest first: all, or that of one app. */
export const listAppeals = ({ db }: AppContext, limit: number, app?: string): Promise<Appeal[]> =>
  db.read
    .select()
    .from(appeals)
    .where(
      and(sql`${appeals.state} = 'open'`, app === undefined ? undefined : eq(appeals.app, app)),
    )
    .orderBy(asc(appeals.at), asc(appeals.id))
    .limit(limit)

/** Answers the open appeal of an app, inside a transaction. Undefined when there is none. */
export async function resolveAppeal(
  { clock }: AppContext,
  db: Db,
  id: string,
  { state, answer }: Pick<Appeal, 'state' | 'answer'>,
): Promise<Appeal | undefined> {
  const [answered] = await db
    .update(appeals)
    .set({ state, answer, decided: clock.now() })
    .where(and(eq(appeals.app, id), eq(appeals.state, 'open')))
    .returning()
  return answered
}

/** Decides the open appeal of an app; a granted one shows it again. False when there is none. */
export const decideAppeal = (
  ctx: AppContext,
  id: string,
  granted: boolean,
  answer: string,
  by = 'operator',
): Promise<boolean> =>
  ctx.db.tx(async (db) => {
    const state = granted ? 'granted' : 'denied'
    const decided = await resolveAppeal(ctx, db, id, { state, answer })
    if (!decided) return false
    const app = granted && ((await reinstateApp(ctx, db, id)) ?? (await releaseApp(ctx, db, id)))
    if (app) await closeReports(ctx, db, id)
    await recordAudit(ctx, db, { by, did: state, item: id, why: answer })
    await notify(ctx, db, {
      to: decided.maker,
      kind: 'appeal.decided',
      item: id,
      data: { state, answer },
      text: `${app ? `${sentence(`The app ${standing(app)}`)} ` : ''}Your appeal was ${state}: “${answer}”`,
    })
    return true
  })

/** Forgets appeals that were decided before a moment, inside a transaction. */
export async function deleteAppealsBefore(db: Db, before: number): Promise<void> {
  await db.delete(appeals).where(lt(appeals.decided, before))
}
