import { eq } from 'drizzle-orm'

import type { Db } from '../../kernel/db/engine.ts'
import { recordAudit } from '../../people/audit/audit.ts'
import type { AppContext } from '../../server/context.ts'
import { deleteUses } from '../explore/uses.ts'
import { hideComment } from './comments.ts'
import { hideReview } from './reviews.ts'
import { comments, reviews } from './tables.ts'

/** Hides a review or a comment for the operator. Returns false if there is none with this id. */
export const hideFeedback = (
  ctx: AppContext,
  id: string,
  why: string,
  by = 'operator',
): Promise<boolean> =>
  ctx.db.tx(async (db) => {
    const item = (await hideReview(ctx, db, id)) ?? (await hideComment(ctx, db, id))
    if (item === undefined) return false
    await recordAudit(ctx, db, { by, did: 'hide', item, why })
    return true
  })

/** Deletes the reviews, comments and usage of a removed item. */
export async function removeFeedback(db: Db, item: string): Promise<void> {
  await db.delete(reviews).where(eq(reviews.item, item))
  await db.delete(comments).where(eq(comments.item, item))
  await deleteUses(db, item)
}
