import { and, eq, gt, gte, or, sql } from 'drizzle-orm'

import type { AppContext } from '../../kernel/context.ts'
import type { Db } from '../../kernel/db/engine.ts'
import { hasRows } from '../../kernel/db/query.ts'
import { zero } from '../../kernel/money.ts'
import type { App } from '../apps.ts'
import { apps, remixes } from '../tables.ts'

type Remix = typeof remixes.$inferSelect

const ancestorsMax = 1_000

/** Returns the ancestors of a remix as they were then: its direct origin first, the root last. */
export const ancestorsOf = (ctx: AppContext, id: string) =>
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

export const hasRemixed = (db: Db, agent: string, app: string): Promise<boolean> =>
  hasRows(db, remixes, and(eq(remixes.buyer, agent), eq(remixes.of, app)))

/** Returns whether an agent has paid for an app, or copied this version or a later one for free. */
export async function hasBought(
  db: Db,
  buyer: string,
  app: string,
  version: number,
): Promise<boolean> {
  const isPaidOrNewer = or(gt(remixes.price, zero), gte(remixes.version, version))
  return hasRows(db, remixes, and(eq(remixes.buyer, buyer), eq(remixes.of, app), isPaidOrNewer))
}

/**
 * Counts a remix and locks the original. A maker's own copies do not count; each other agent is one
 * remixer.
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

export async function recordRemix(db: Db, remix: Remix): Promise<void> {
  await db.insert(remixes).values(remix)
}

/** Removes the names of an origin from its remixes, when a private one is removed for good. */
export async function forgetOrigin(db: Db, id: string): Promise<void> {
  const origin = { remixOf: null, remixOfTitle: null, remixOfMaker: null }
  await db.update(apps).set(origin).where(eq(apps.remixOf, id))
  await db.update(remixes).set({ title: '' }).where(eq(remixes.of, id))
}
