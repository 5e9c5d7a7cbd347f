import { and, asc, eq, gt, isNotNull, isNull, lt, notInArray } from 'drizzle-orm'

import type { AppContext } from '../../kernel/context.ts'
import { day } from '../../kernel/time.ts'
import { guestDays } from './limits.ts'
import { documents, players, scores, uploads, values } from './tables.ts'

/**
 * Deletes the rows of guests who joined long ago and left nothing. Such a guest is asked again.
 * Returns their number.
 */
export async function forgetGuests(ctx: AppContext): Promise<number> {
  // The rows of agents that played in chats before 2026-12 have no person, but count their values.
  const isOld = and(
    isNull(players.person),
    eq(players.values, 0),
    lt(players.created, ctx.clock.now() - guestDays * day),
  )
  let forgotten = 0
  for (let after = ''; ;) {
    const [next] = await ctx.db.read
      .select({ app: players.app })
      .from(players)
      .where(and(isOld, gt(players.app, after)))
      .orderBy(asc(players.app))
      .limit(1)
    if (!next) return forgotten
    after = next.app
    forgotten += await forgetGuestsOf(ctx, after, isOld)
  }
}

async function forgetGuestsOf(
  { db: engine }: AppContext,
  app: string,
  isOld: ReturnType<typeof and>,
): Promise<number> {
  return engine.tx(async (db) => {
    const authors = db
      .select({ id: documents.author })
      .from(documents)
      .where(and(eq(documents.app, app), isNotNull(documents.data)))
      .union(db.select({ id: values.author }).from(values).where(eq(values.app, app)))
      .union(db.select({ id: uploads.author }).from(uploads).where(eq(uploads.app, app)))
      .union(db.select({ id: scores.player }).from(scores).where(eq(scores.app, app)))
    const gone = await db
      .delete(players)
      .where(and(eq(players.app, app), isOld, notInArray(players.id, authors)))
      .returning({ id: players.id })
    return gone.length
  })
}
