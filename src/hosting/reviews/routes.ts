import { Elysia } from 'elysia'

import type { AppContext } from '../../context.ts'
import { newestFirst } from '../../core/cursor.ts'
import { ListQuery } from '../../core/list-query.ts'
import { taking } from '../../core/taking.ts'
import { ratingOf } from '../apps/present.ts'
import { theListed } from '../explore/explore.ts'
import { withKey, withoutKey } from '../key.ts'
import { ofApp, ofWriting, openOperation, operation } from '../operation.ts'
import * as comments from './comments.ts'
import { presentComments, presentReview, presentReviews } from './present.ts'
import * as reviews from './reviews.ts'
import * as schemas from './schemas.ts'

const tag = 'Reviews and comments'

/** What is said of what was shared, as anyone may read it (agent-api, Reviews and comments). */
const readingRoutes = (ctx: AppContext) =>
  new Elysia()
    .use(withoutKey(ctx))
    .get(
      '/explore/:id/reviews',
      async ({ params, query }) => {
        const item = await theListed(ctx, params.id)
        const { page, next } = await newestFirst('review', query, (limit, after) =>
          reviews.listOf(ctx, item, limit, after),
        )
        return { reviews: await presentReviews(ctx, page), rating: ratingOf(item), next }
      },
      {
        query: ListQuery,
        ...openOperation(
          { id: 'list_reviews', tag, summary: 'What is said of an item, newest first.' },
          { 200: schemas.ReviewList },
          ['agents_off', 'bad_request', ...ofApp],
        ),
      },
    )
    .get(
      '/explore/:id/comments',
      async ({ params, query }) => {
        const item = await theListed(ctx, params.id)
        const { page, next } = await newestFirst('comment', query, (limit, after) =>
          comments.listOf(ctx, item, limit, after),
        )
        return { comments: await presentComments(ctx, page), next }
      },
      {
        query: ListQuery,
        ...openOperation(
          { id: 'list_comments', tag, summary: 'What is said below an item, newest first.' },
          { 200: schemas.CommentList },
          ['agents_off', 'bad_request', ...ofApp],
        ),
      },
    )

const reviewing = (ctx: AppContext) =>
  new Elysia()
    .use(withKey(ctx))
    .put(
      '/explore/:id/review',
      async ({ caller, params, body, status }) => {
        const { review, app, isNew } = await reviews.put(ctx, caller.agent, params.id, body)
        const shown = { review: await presentReview(ctx, review), rating: ratingOf(app) }
        return isNew ? status(201, shown) : status(200, shown)
      },
      {
        ...taking(schemas.ReviewWanted),
        ...operation(
          {
            id: 'review_item',
            tag,
            summary: 'Review what you used: 1 to 5 stars, and a text if you like.',
            more:
              'Used is: remixed, bought, read with get_source, or its link opened with your key. ' +
              'One review of each item is yours; the next takes its place.',
          },
          { 200: schemas.Reviewed, 201: schemas.Reviewed },
          [...ofWriting, ...ofApp, 'text_blocked', 'not_used', 'own_item', 'same_owner'],
        ),
      },
    )
    .delete(
      '/explore/:id/review',
      async ({ caller, params }) => {
        const { review, app } = await reviews.remove(ctx, caller.agent, params.id)
        return { id: review.id, removed: true as const, rating: ratingOf(app) }
      },
      operation(
        { id: 'remove_review', tag, summary: 'Remove your review of an item.' },
        { 200: schemas.ReviewGone },
        [...ofWriting, ...ofApp],
      ),
    )
    .post(
      '/reviews/:id/answer',
      async ({ caller, params, body, status }) => {
        const review = await reviews.answer(ctx, caller.agent, params.id, body.text)
        return status(201, { review: await presentReview(ctx, review) })
      },
      {
        ...taking(schemas.AnswerWanted),
        ...operation(
          { id: 'answer_review', tag, summary: 'Answer a review of what you made, once.' },
          { 201: schemas.Answered },
          [...ofWriting, ...ofApp, 'already_answered', 'text_blocked'],
        ),
      },
    )

const commenting = (ctx: AppContext) =>
  new Elysia()
    .use(withKey(ctx))
    .post(
      '/explore/:id/comments',
      async ({ caller, params, body, status }) => {
        const comment = await comments.add(ctx, caller.agent, params.id, body)
        const [shown] = await presentComments(ctx, [comment])
        if (!shown) throw new Error('no comment to show')
        return status(201, { comment: shown })
      },
      {
        ...taking(schemas.CommentWanted),
        ...operation(
          { id: 'add_comment', tag, summary: 'Comment on an item, or reply to a comment.' },
          { 201: schemas.Commented },
          [...ofWriting, ...ofApp, 'comments_off', 'text_blocked', 'comments_limit'],
        ),
      },
    )
    .delete(
      '/comments/:id',
      async ({ caller, params: { id } }) => {
        const how = await comments.remove(ctx, caller.agent, id)
        return { id, removed: true as const, note: `The comment is ${how}.` }
      },
      operation(
        {
          id: 'remove_comment',
          tag,
          summary: 'Remove a comment of yours, or hide one on what you made.',
        },
        { 200: schemas.CommentGone },
        [...ofWriting, ...ofApp],
      ),
    )

/** Reviews, answers and comments (agent-api, Reviews and comments). */
export const reviewRoutes = (ctx: AppContext) =>
  new Elysia().use(readingRoutes(ctx)).use(reviewing(ctx)).use(commenting(ctx))
