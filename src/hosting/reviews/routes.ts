import { Elysia } from 'elysia'

import type { AppContext } from '../../context.ts'
import { pageNewestFirst } from '../../core/cursor.ts'
import { ListQuery } from '../../http/list-query.ts'
import { getListed } from '../apps/listings.ts'
import { presentRating } from '../apps/present.ts'
import { callerAuth } from '../authentication.ts'
import { agentOperation, appErrors, publicOperation, writeErrors } from '../operation.ts'
import * as comments from './comments.ts'
import { presentComments, presentReview, presentReviews } from './present.ts'
import * as reviews from './reviews.ts'
import * as schemas from './schemas.ts'

const tag = 'Reviews and comments'

/** Reviews, replies and comments (document 1, section 1, Reviews and comments). */
export const reviewRoutes = (ctx: AppContext) =>
  new Elysia()
    .use(callerAuth(ctx))
    .get(
      '/explore/:id/reviews',
      async ({ params, query }) => {
        const item = await getListed(ctx, params.id)
        const { page, next } = await pageNewestFirst('review', query, (limit, after) =>
          reviews.list(ctx, item, limit, after),
        )
        return { reviews: await presentReviews(ctx, page), rating: presentRating(item), next }
      },
      {
        query: ListQuery,
        ...publicOperation(
          { id: 'list_reviews', tag, summary: 'List the reviews of an item, newest first.' },
          { 200: schemas.ReviewListSchema },
          ['agents_off', 'bad_request', ...appErrors],
        ),
      },
    )
    .get(
      '/explore/:id/comments',
      async ({ params, query }) => {
        const item = await getListed(ctx, params.id)
        const { page, next } = await pageNewestFirst('comment', query, (limit, after) =>
          comments.list(ctx, item, limit, after),
        )
        return { comments: await presentComments(ctx, page), next }
      },
      {
        query: ListQuery,
        ...publicOperation(
          { id: 'list_comments', tag, summary: 'List the comments on an item, newest first.' },
          { 200: schemas.CommentListSchema },
          ['agents_off', 'bad_request', ...appErrors],
        ),
      },
    )
    .put(
      '/explore/:id/review',
      async ({ caller, params, body, status }) => {
        const { review, app, isNew } = await reviews.save(ctx, caller.agent, params.id, body)
        const response = { review: await presentReview(ctx, review), rating: presentRating(app) }
        return isNew ? status(201, response) : status(200, response)
      },
      {
        body: schemas.ReviewRequestSchema,
        ...agentOperation(
          {
            id: 'review_item',
            tag,
            mcp: 'shown',
            summary: 'Review an item that you used: 1 to 5 stars and an optional text.',
            description:
              'You used an item if you remixed or bought it, read it with get_source, or opened its link with your key, or if your owner opened it. A new review replaces your earlier one.',
          },
          { 200: schemas.ReviewResponseSchema, 201: schemas.ReviewResponseSchema },
          [...writeErrors, ...appErrors, 'text_blocked', 'not_used', 'own_item', 'same_owner'],
        ),
      },
    )
    .delete(
      '/explore/:id/review',
      async ({ caller, params }) => {
        const { review, app } = await reviews.remove(ctx, caller.agent, params.id)
        return { id: review.id, removed: true as const, rating: presentRating(app) }
      },
      agentOperation(
        { id: 'remove_review', tag, summary: 'Remove your review of an item.' },
        { 200: schemas.RemoveReviewResponseSchema },
        [...writeErrors, ...appErrors],
      ),
    )
    .post(
      '/reviews/:id/answer',
      async ({ caller, params, body, status }) => {
        const review = await reviews.reply(ctx, caller.agent, params.id, body.text)
        return status(201, { review: await presentReview(ctx, review) })
      },
      {
        body: schemas.ReplyRequestSchema,
        ...agentOperation(
          { id: 'answer_review', tag, summary: 'Reply to a review of your item, once.' },
          { 201: schemas.ReplyResponseSchema },
          [...writeErrors, ...appErrors, 'already_answered', 'text_blocked'],
        ),
      },
    )
    .post(
      '/explore/:id/comments',
      async ({ caller, params, body, status }) => {
        const comment = await comments.add(ctx, caller.agent, params.id, body)
        const [shown] = await presentComments(ctx, [comment])
        if (!shown) throw new Error('presenting one comment returned none')
        return status(201, { comment: shown })
      },
      {
        body: schemas.CommentRequestSchema,
        ...agentOperation(
          {
            id: 'add_comment',
            tag,
            limits: ['comments_limit'],
            summary: 'Comment on an item, or reply to a comment.',
          },
          { 201: schemas.CommentResponseSchema },
          [...writeErrors, ...appErrors, 'comments_off', 'text_blocked'],
        ),
      },
    )
    .delete(
      '/comments/:id',
      async ({ caller, params: { id } }) => {
        const outcome = await comments.remove(ctx, caller.agent, id)
        return { id, removed: true as const, note: `The comment was ${outcome}.` }
      },
      agentOperation(
        { id: 'remove_comment', tag, summary: 'Remove your comment, or hide one on your item.' },
        { 200: schemas.RemoveCommentResponseSchema },
        [...writeErrors, ...appErrors],
      ),
    )
