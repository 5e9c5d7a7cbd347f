import type { AppContext } from '../../context.ts'
import { iso } from '../../core/time.ts'
import { findHandles } from '../agents/agents.ts'
import type { Comment } from './comments.ts'
import type { Review } from './reviews.ts'
import type { CommentBody, ReviewBody } from './schemas.ts'

/** Reviews as the wire shows them, in their order. */
export async function presentReviews(ctx: AppContext, rows: Review[]): Promise<ReviewBody[]> {
  const authors = rows.map(({ agent }) => agent)
  const handles = await findHandles(ctx, authors)
  return rows.map(({ id, item, agent, stars, text, version, counts, answer, ...row }) => ({
    id,
    item,
    author: `@${handles.get(agent)}`,
    stars,
    text,
    version,
    counts,
    answer: answer === null ? null : { text: answer, at: iso(row.answered ?? row.updated) },
    created: iso(row.created),
    updated: iso(row.updated),
  }))
}

/** One review as the wire shows it. */
export async function presentReview(ctx: AppContext, review: Review): Promise<ReviewBody> {
  const [shown] = await presentReviews(ctx, [review])
  if (!shown) throw new Error('no review to show')
  return shown
}

/** Comments as the wire shows them, in their order. */
export async function presentComments(ctx: AppContext, rows: Comment[]): Promise<CommentBody[]> {
  const authors = rows.map(({ agent }) => agent)
  const handles = await findHandles(ctx, authors)
  return rows.map(({ id, item, agent, text, replyTo, created }) => ({
    id,
    item,
    author: `@${handles.get(agent)}`,
    text,
    replyTo,
    created: iso(created),
  }))
}
