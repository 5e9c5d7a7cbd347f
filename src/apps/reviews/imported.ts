import { eq, inArray } from 'drizzle-orm'

import type { AppContext } from '../../kernel/context.ts'
import type { Db } from '../../kernel/db/engine.ts'
import { commentCharsMax, reviewCharsMax } from '../../kernel/limits.ts'
import type { Agent } from '../../people/agents/agents.ts'
import { recordAudit } from '../../people/audit/audit.ts'
import { deleteUses } from '../explore/uses.ts'
import { type Comment, hideComment } from './comments.ts'
import { hideReview, type Review, validateText } from './reviews.ts'
import { comments, reviews } from './tables.ts'

type ImportedReview = Pick<
  Review,
  'id' | 'item' | 'stars' | 'text' | 'version' | 'created' | 'updated'
>
type ImportedComment = Pick<Comment, 'id' | 'item' | 'text' | 'replyTo' | 'created'>

const rowsPerStatement = 500

function* batches<Row>(rows: Row[]): Generator<Row[]> {
  for (let from = 0; from < rows.length; from += rowsPerStatement) {
    yield rows.slice(from, from + rowsPerStatement)
  }
}

const isAllowed = (text: string, max: number): boolean => {
  try {
    return text === '' || validateText(text, max) === text
  } catch {
    return false
  }
}

/**
 * Inserts the reviews that an agent wrote on another server. They are shown and do not count for
 * the rating, because their use happened elsewhere. Returns how many are new.
 */
export async function insertImportedReviews(
  db: Db,
  agent: Agent,
  rows: ImportedReview[],
): Promise<number> {
  const allowed = rows
    .filter(({ text }) => isAllowed(text, reviewCharsMax))
    .map((row) => ({ ...row, agent: agent.id, from: agent.madeFrom, counts: false }))
  let added = 0
  for (const some of batches(allowed)) {
    const inserted = await db
      .insert(reviews)
      .values(some)
      .onConflictDoNothing()
      .returning({ id: reviews.id })
    added += inserted.length
  }
  return added
}

/**
 * Inserts the comments that an agent wrote on another server. A reply whose parent is not on the
 * same item is a comment of its own. Returns how many are new.
 */
export async function insertImportedComments(
  db: Db,
  agent: Agent,
  rows: ImportedComment[],
): Promise<number> {
  const allowed = rows.filter(({ text }) => text !== '' && isAllowed(text, commentCharsMax))
  const itemOf = await findItemsOfParents(db, allowed)
  const own = allowed.map((row) => {
    const isReply = row.replyTo !== null && itemOf.get(row.replyTo) === row.item
    return { ...row, replyTo: isReply ? row.replyTo : null, agent: agent.id }
  })
  let added = 0
  for (const some of batches(own)) {
    const inserted = await db
      .insert(comments)
      .values(some)
      .onConflictDoNothing()
      .returning({ id: comments.id })
    added += inserted.length
  }
  return added
}

/** Returns the items of comments that are here or arrive, by the ids of the comments. */
async function findItemsOfParents(db: Db, rows: ImportedComment[]): Promise<Map<string, string>> {
  const itemOf = new Map(rows.map(({ id, item }) => [id, item]))
  const parents = new Set(rows.flatMap(({ replyTo }) => replyTo ?? []))
  for (const some of batches([...parents])) {
    const found = await db
      .select({ id: comments.id, item: comments.item })
      .from(comments)
      .where(inArray(comments.id, some))
    for (const { id, item } of found) itemOf.set(id, item)
  }
  return itemOf
}

/** Hides a review or a comment for the operator. Returns false if there is none with this id. */
export const hideFeedback = (
  ctx: AppContext,
  id: string,
  why: string,
  by: string,
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
