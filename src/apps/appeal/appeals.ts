import { and, asc, eq, isNull, lt, sql } from 'drizzle-orm'

import type { Db } from '../../kernel/db/engine.ts'
import { forUpdate } from '../../kernel/db/query.ts'
import { ApiError, rejectRequest } from '../../kernel/errors.ts'
import { newId } from '../../kernel/ids.ts'
import { appealCharsMax } from '../../kernel/limits.ts'
import { isPlainText } from '../../kernel/text.ts'
import type { Agent } from '../../people/agents/agents.ts'
import type { AppContext } from '../../server/context.ts'
import { type App, findApp } from '../apps.ts'
import { apps } from '../tables.ts'
import { appeals } from './tables.ts'

export type Appeal = typeof appeals.$inferSelect

/** Throws `not_found`, `bad_request`, `nothing_to_appeal` and `appealed_already`. */
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
  if (!isPlainText(text, appealCharsMax) || text.trim() === '')
    rejectRequest(`"text" must be plain text of 1 to ${appealCharsMax} characters.`)
  const at = ctx.clock.now()
  const [created] = await ctx.db.tx(async (db) => {
    // The sanction may end concurrently. An appeal must not stay open after it.
    const query = db
      .select()
      .from(apps)
      .where(and(eq(apps.id, id), isNull(apps.closed)))
    const [current] = await forUpdate(query.$dynamic(), apps.id)
    const since = current ? sanctionedAt(current) : null
    if (since === null) throw new ApiError('nothing_to_appeal')
    return db
      .insert(appeals)
      .values({ id: newId(), app: id, maker: maker.id, against: since, text, at, state: 'open' })
      .onConflictDoNothing()
      .returning()
  })
  if (!created) throw new ApiError('appealed_already')
  return created
}

/** Returns the time of the takedown or quarantine of an app, or null. */
export const sanctionedAt = ({
  takenDown,
  quarantinedAt,
}: Pick<App, 'takenDown' | 'quarantinedAt'>) => takenDown ?? quarantinedAt

export async function findAppeal({ db }: AppContext, app: App): Promise<Appeal | undefined> {
  const at = sanctionedAt(app)
  if (at === null) return undefined
  const [appeal] = await db.read
    .select()
    .from(appeals)
    .where(and(eq(appeals.app, app.id), eq(appeals.against, at)))
  return appeal
}

/** Returns open appeals, oldest first: all, or those of one app. */
export const listAppeals = ({ db }: AppContext, limit: number, app?: string): Promise<Appeal[]> =>
  db.read
    .select()
    .from(appeals)
    .where(
      and(sql`${appeals.state} = 'open'`, app === undefined ? undefined : eq(appeals.app, app)),
    )
    .orderBy(asc(appeals.at), asc(appeals.id))
    .limit(limit)

/** Records the decision on the open appeal of an app. */
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

export async function deleteAppealsBefore(db: Db, before: number): Promise<void> {
  await db.delete(appeals).where(lt(appeals.decided, before))
}
