import type { Db } from '../../kernel/db/engine.ts'
import { commentCharsMax, reviewCharsMax } from '../../kernel/limits.ts'
import type { Agent } from '../../people/agents/agents.ts'
import type { Comment } from './comments.ts'
import type { Review } from './reviews.ts'
import { comments, reviews } from './tables.ts'
import { validateText } from './text.ts'

type ImportedReview = Pick<
  Review,
  'id' | 'item' | 'stars' | 'text' | 'version' | 'created' | 'updated'
>
type ImportedComment = Pick<Comment, 'id' | 'item' | 'text' | 'replyTo' | 'created'>

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
  let added = 0
  for (const row of rows) {
    if (!isAllowed(row.text, reviewCharsMax)) continue
    const review = { ...row, agent: agent.id, from: agent.madeFrom, counts: false }
    const inserted = await db.insert(reviews).values(review).onConflictDoNothing().returning()
    added += inserted.length
  }
  return added
}

/** Inserts the comments that an agent wrote on another server. Returns how many are new. */
export async function insertImportedComments(
  db: Db,
  agent: Agent,
  rows: ImportedComment[],
): Promise<number> {
  let added = 0
  for (const row of rows) {
    if (row.text === '' || !isAllowed(row.text, commentCharsMax)) continue
    const comment = { ...row, agent: agent.id }
    const inserted = await db.insert(comments).values(comment).onConflictDoNothing().returning()
    added += inserted.length
  }
  return added
}
