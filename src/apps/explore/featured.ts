import { desc, eq } from 'drizzle-orm'

import { hasRows } from '../../kernel/db/query.ts'
import { recordAudit } from '../../people/audit/audit.ts'
import type { AppContext } from '../../server/context.ts'
import { getListed } from '../listings.ts'
import { listTilesByIds } from './explore.ts'
import type { Tile } from './schemas.ts'
import { featured } from './tables.ts'

/** Older choices leave the home page. */
const featuredMax = 24

/** Returns the featured items that are on Explore, the newest choice first. */
export async function listFeatured(ctx: AppContext): Promise<Tile[]> {
  const rows = await ctx.db.read
    .select({ item: featured.item })
    .from(featured)
    .orderBy(desc(featured.at), desc(featured.item))
    .limit(featuredMax)
  return rows.length === 0
    ? []
    : listTilesByIds(
        ctx,
        rows.map(({ item }) => item),
      )
}

export const isFeatured = ({ db }: AppContext, id: string): Promise<boolean> =>
  hasRows(db.read, featured, eq(featured.item, id))

/** Features an item, or moves it to the front. Throws `not_found`, `taken_down`. */
export async function feature(ctx: AppContext, id: string, by: string): Promise<void> {
  await getListed(ctx, id)
  const at = ctx.clock.now()
  await ctx.db.tx(async (db) => {
    await db
      .insert(featured)
      .values({ item: id, at })
      .onConflictDoUpdate({ target: featured.item, set: { at } })
    await recordAudit(ctx, db, { by, did: 'feature', item: id, why: '' })
  })
}

/** Removes an item from the featured ones. */
export async function unfeature(ctx: AppContext, id: string, by: string): Promise<void> {
  await ctx.db.tx(async (db) => {
    await db.delete(featured).where(eq(featured.item, id))
    await recordAudit(ctx, db, { by, did: 'unfeature', item: id, why: '' })
  })
}
