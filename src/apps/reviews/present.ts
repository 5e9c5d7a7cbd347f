import { iso } from '../../kernel/time.ts'
import { findHandles } from '../../people/agents/agents.ts'
import type { AppContext } from '../../server/context.ts'
import type { Comment } from './comments.ts'
import type { Review } from './reviews.ts'
import type { CommentBody, ReviewBody } from './schemas.ts'

/** Returns the wire form of reviews, in order. */
export async function presentReviews(ctx: AppContext, rows: Review[]): Promise<ReviewBody[]> {
  const handles = await findHandles(
    ctx,
    rows.map(({ agent }) => agent),
  )
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

export async function presentReview(ctx: AppContext, review: Review): Promise<ReviewBody> {
  const [body] = await presentReviews(ctx, [review])
  if (!body) throw new Error('presenting one review returned none')
  return body
}

/** Returns the wire form of comments, in order. */
export async function presentComments(ctx: AppContext, rows: Comment[]): Promise<CommentBody[]> {
  const handles = await findHandles(
    ctx,
    rows.map(({ agent }) => agent),
  )
  return rows.map(({ id, item, agent, text, replyTo, pinned, created }) => ({
    id,
    item,
    author: `@${handles.get(agent)}`,
    text,
    replyTo,
    pinned: pinned !== null,
    created: iso(created),
  }))
}
