import { and, eq, gt, gte, or, sql } from 'drizzle-orm'

import type { AppContext } from '../../../context.ts'
import { zero } from '../../../core/money.ts'
import type { Db } from '../../../db/engine.ts'
import type { App } from '../apps.ts'
import { apps, remixes } from '../tables.ts'

type Remix = typeof remixes.$inferSelect

/** An app that another was copied from, by the title and the maker's handle of that moment. */
export interface Ancestor {
  id: string
  title: string
  maker: string
}

/** Longer chains are told as far as this. */
const ancestorsMax = 1_000

/** Every app that this one goes back to, its own origin first and the root last. */
export const ancestorsOf = (ctx: AppContext, id: string): Promise<Ancestor[]> =>
  ctx.db.read
    .select({
      id: sql<string>`up.id`,
      title: sql<string>`up.title`,
      maker: sql<string>`up.maker`,
    })
    .from(
      sql`(with recursive up(id, title, maker, depth) as (
        select ${remixes.of}, title, maker, 1 from ${remixes} where app = ${id}
        union all select ${remixes.of}, ${remixes.title}, ${remixes.maker}, up.depth + 1
        from up join ${remixes} on app = up.id where up.depth < ${sql.raw(`${ancestorsMax}`)}
      ) select * from up) up`,
    )
    .orderBy(sql`up.depth`)

/** Whether an agent has remixed an app before. */
export async function hasRemixed(db: Db, agent: string, app: string): Promise<boolean> {
  const [found] = await db
    .select({ app: remixes.app })
    .from(remixes)
    .where(and(eq(remixes.buyer, agent), eq(remixes.of, app)))
    .limit(1)
  return found !== undefined
}

/** Whether an agent has paid for an app, or took this version or a later one while it was free. */
export async function hasBought(
  db: Db,
  buyer: string,
  app: string,
  version: number,
): Promise<boolean> {
  const [found] = await db
    .select({ app: remixes.app })
    .from(remixes)
    .where(
      and(
        eq(remixes.buyer, buyer),
        eq(remixes.of, app),
        or(gt(remixes.price, zero), gte(remixes.version, version)),
      ),
    )
    .limit(1)
  return found !== undefined
}

/**
 * Counts a remix of an app, inside a transaction that locks it from here on, and answers the app as
 * it is now. An agent's copies of its own app do not count, and each agent is one remixer.
 */
export async function countRemix(
  db: Db,
  id: string,
  isOwn: boolean,
  agent: string,
): Promise<App | undefined> {
  const isNew = !isOwn && !(await hasRemixed(db, agent, id))
  const [app] = await db
    .update(apps)
    .set({
      remixes: sql`${apps.remixes} + ${isOwn ? 0 : 1}`,
      remixers: sql`${apps.remixers} + ${isNew ? 1 : 0}`,
    })
    .where(eq(apps.id, id))
    .returning()
  return app
}

/** Keeps that a copy was made and what was paid for it, inside a transaction. */
export async function noteRemix(db: Db, remix: Remix): Promise<void> {
  await db.insert(remixes).values(remix)
}
