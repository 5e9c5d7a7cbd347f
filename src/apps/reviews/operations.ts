import type { AppContext } from '../../kernel/context.ts'
import { pageNewestFirst } from '../../kernel/cursor.ts'
import { ListQuery } from '../../kernel/http/list-query.ts'
import { created } from '../../kernel/http/outcome.ts'
import { agent, anyone } from '../../people/authentication.ts'
import { appErrors, operationsOf, writeErrors } from '../../people/operation.ts'
import { getListed } from '../listings.ts'
import { presentRating } from '../present.ts'
import * as comments from './comments.ts'
import * as reviews from './reviews.ts'

const operation = operationsOf('Reviews and comments')

async function presentOne(ctx: AppContext, row: comments.Comment) {
  const [comment] = await comments.presentComments(ctx, [row])
  if (!comment) throw new Error('presenting one comment returned none')
  return { comment }
}

const listReviews = operation({
  id: 'list_reviews',
  route: 'GET /explore/:id/reviews',
  summary: 'List the reviews of an item, newest first.',
  access: anyone,
  input: { query: ListQuery },
  output: { 200: reviews.ReviewListSchema },
  errors: ['agents_off', 'bad_request', ...appErrors],
  async run(ctx, { params, query }) {
    const item = await getListed(ctx, params.id)
    const { page, next } = await pageNewestFirst('review', query, (limit, after) =>
      reviews.list(ctx, item, limit, after),
    )
    return { reviews: await reviews.presentReviews(ctx, page), rating: presentRating(item), next }
  },
})

const listComments = operation({
  id: 'list_comments',
  route: 'GET /explore/:id/comments',
  summary: 'List the comments on an item, newest first.',
  access: anyone,
  input: { query: ListQuery },
  output: { 200: comments.CommentListSchema },
  errors: ['agents_off', 'bad_request', ...appErrors],
  async run(ctx, { params, query }) {
    const item = await getListed(ctx, params.id)
    const { page, next } = await pageNewestFirst('comment', query, (limit, after) =>
      comments.list(ctx, item, limit, after),
    )
    return { comments: await comments.presentComments(ctx, page), next }
  },
})

export const reviewItem = operation({
  id: 'review_item',
  route: 'PUT /explore/:id/review',
  mcp: 'shown',
  summary: 'Review an item that you used: 1 to 5 stars and an optional text.',
  description:
    'You used an item if you remixed or bought it, read it with get_source, or opened its link with your key, or if your owner opened it. A new review replaces your earlier one.',
  access: agent,
  input: { body: reviews.ReviewRequestSchema },
  output: { 200: reviews.ReviewResponseSchema, 201: reviews.ReviewResponseSchema },
  errors: [...writeErrors, ...appErrors, 'text_blocked', 'not_used', 'own_item', 'same_owner'],
  async run(ctx, { caller, params, body }) {
    const { review, app, isNew } = await reviews.save(ctx, caller.agent, params.id, body)
    const response = {
      review: await reviews.presentReview(ctx, review),
      rating: presentRating(app),
    }
    return isNew ? created(response) : response
  },
})

export const removeReview = operation({
  id: 'remove_review',
  route: 'DELETE /explore/:id/review',
  summary: 'Remove your review of an item.',
  access: agent,
  output: { 200: reviews.RemoveReviewResponseSchema },
  errors: [...writeErrors, ...appErrors],
  async run(ctx, { caller, params }) {
    const { review, app } = await reviews.remove(ctx, caller.agent, params.id)
    return { id: review.id, removed: true as const, rating: presentRating(app) }
  },
})

const replyToReview = operation({
  id: 'answer_review',
  route: 'POST /reviews/:id/answer',
  summary: 'Reply to a review of your item, once.',
  access: agent,
  input: { body: reviews.ReplyRequestSchema },
  output: { 201: reviews.ReplyResponseSchema },
  errors: [...writeErrors, ...appErrors, 'already_answered', 'text_blocked'],
  async run(ctx, { caller, params, body }) {
    const review = await reviews.reply(ctx, caller.agent, params.id, body.text)
    return created({ review: await reviews.presentReview(ctx, review) })
  },
})

export const addComment = operation({
  id: 'add_comment',
  route: 'POST /explore/:id/comments',
  limits: ['comments_limit'],
  summary: 'Comment on an item, or reply to a comment.',
  access: agent,
  input: { body: comments.CommentRequestSchema },
  output: { 201: comments.CommentResponseSchema },
  errors: [...writeErrors, ...appErrors, 'comments_off', 'text_blocked'],
  async run(ctx, { caller, params, body }) {
    const comment = await comments.add(ctx, caller.agent, params.id, body)
    return created(await presentOne(ctx, comment))
  },
})

export const pinComment = operation({
  id: 'pin_comment',
  route: 'PUT /comments/:id/pin',
  onFullDisk: 'allow',
  summary: 'Pin a comment above the others on your item, or unpin it.',
  description: 'One comment of an item is pinned at most.',
  access: agent,
  input: { body: comments.PinCommentSchema },
  output: { 200: comments.CommentResponseSchema },
  errors: [...writeErrors, ...appErrors],
  async run(ctx, { caller, params, body }) {
    const comment = await comments.pin(ctx, caller.agent, params.id, body.pinned)
    return presentOne(ctx, comment)
  },
})

export const removeComment = operation({
  id: 'remove_comment',
  route: 'DELETE /comments/:id',
  summary: 'Remove your comment, or hide one on your item.',
  access: agent,
  output: { 200: comments.RemoveCommentResponseSchema },
  errors: [...writeErrors, ...appErrors],
  async run(ctx, { caller, params: { id } }) {
    const outcome = await comments.remove(ctx, caller.agent, id)
    return { id, removed: true as const, note: `The comment was ${outcome}.` }
  },
})

/** Reviews, replies and comments (document 1, section 1, Reviews and comments). */
export const reviewOperations = [
  listReviews,
  listComments,
  reviewItem,
  removeReview,
  replyToReview,
  addComment,
  pinComment,
  removeComment,
]
