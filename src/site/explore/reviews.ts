import type { Item } from '../../apps/explore/schemas.ts'
import { getListed } from '../../apps/listings.ts'
import * as comments from '../../apps/reviews/comments.ts'
import { presentComments, presentReviews } from '../../apps/reviews/present.ts'
import * as reviews from '../../apps/reviews/reviews.ts'
import type { CommentBody, ReviewBody } from '../../apps/reviews/schemas.ts'
import { makeCursor, type PagePosition, takePage } from '../../kernel/cursor.ts'
import { type Html, html, type Part } from '../../kernel/html.ts'
import type { AppContext } from '../../server/context.ts'
import { requestDetails, starRating, withQuery } from '../components.ts'
import { formatCount, renderDate } from '../format.ts'
import { createdCursor, pager } from '../lists.ts'
import { commentActions, commentForm, reviewForm } from './feedback-forms.ts'
import type { ItemVisitor } from './visitor.ts'

const rowsMax = 20

interface Listing<Row> {
  all: Row[]
  ways: Part
}

/** Renders the reviews and comments of an item, newest first. Throws `bad_request`. */
export async function renderFeedback(
  ctx: AppContext,
  item: Item,
  query: URLSearchParams,
  visitor: ItemVisitor | undefined,
): Promise<Html> {
  const app = await getListed(ctx, item.id)
  const [rated, commented] = await Promise.all([
    readListing(item, query, 'reviews', async (after) =>
      presentReviews(ctx, await reviews.list(ctx, app, rowsMax + 1, after)),
    ),
    readListing(item, query, 'comments', async (after) =>
      presentComments(ctx, await comments.list(ctx, app, rowsMax + 1, after)),
    ),
  ])
  const pinned = await comments.findPinned(ctx, app)
  const first = pinned ? await presentComments(ctx, [pinned]) : []
  commented.all = [...first, ...commented.all.filter(({ id }) => id !== pinned?.id)]
  const hasComments = app.comments || commented.all.length > 0
  const replyTo = commented.all.find(({ id }) => id === query.get('reply'))
  const discussion = { ...commented, canComment: app.comments, replyTo }
  return html`${reviewSection(ctx, item, rated, visitor)}${hasComments && commentSection(ctx, item, discussion, visitor)}`
}

/** Reads a page of one list; the query has a cursor for each list. */
async function readListing<Row extends { id: string; created: string }>(
  { id: item }: Item,
  query: URLSearchParams,
  name: 'reviews' | 'comments',
  list: (after?: PagePosition) => Promise<Row[]>,
): Promise<Listing<Row>> {
  const after = createdCursor(query, name)
  const message = await list(after)
  const { page, next } = takePage(message, rowsMax, (one) =>
    makeCursor(Date.parse(one.created), one.id),
  )
  const [reviews, comments] = [query.get('reviews'), query.get('comments')].map(
    (one) => one ?? undefined,
  )
  // The links of one list keep the position in the other.
  const pathAt = (cursor?: string) =>
    `${withQuery(`/explore/${item}`, { reviews, comments, [name]: cursor })}#${name}`
  const more = next === null ? undefined : pathAt(next)
  return { all: page, ways: pager(pathAt(), more, after === undefined, `Pages of ${name}`) }
}

function curlRequest({ urls }: AppContext, method: string, path: string, body: object): string {
  const headers = `-H "authorization: Bearer $KEY" -H 'content-type: application/json'`
  return `curl -sX ${method} ${urls.base}/explore/${path} ${headers} -d '${JSON.stringify(body)}'`
}

function reviewSection(
  ctx: AppContext,
  item: Item,
  { all, ways }: Listing<ReviewBody>,
  visitor: ItemVisitor | undefined,
): Html {
  const { id, rating } = item
  const line = curlRequest(ctx, 'PUT', `${id}/review`, { stars: 5, text: 'Calm and quick.' })
  const summary = all.length === 0 ? 'No reviews yet.' : formatCount(rating.count, 'rating')
  return html`<section id="reviews">
    <h2>Reviews</h2>
    <p>${starRating(rating)} ${summary}</p>
    ${reviewForm(item, visitor)}
    ${
      all.length > 0 &&
      html`<ul class="feedback">
        ${all.map(renderReview)}
      </ul>`
    }
    ${ways} ${requestDetails('Review with curl', line)}
  </section>`
}

function renderReview({ author, stars: given, text, created, answer }: ReviewBody): Html {
  return html`<li>
    <p class="small">
      ${starRating({ stars: given, count: 1 })} <strong>${author}</strong> · ${renderDate(created)}
    </p>
    ${text !== '' && html`<p class="text"><bdi>${text}</bdi></p>`}
    ${
      answer &&
      html`<blockquote>
        <p class="small">Reply from the maker, ${renderDate(answer.at)}</p>
        <p class="text"><bdi>${answer.text}</bdi></p>
      </blockquote>`
    }
  </li>`
}

interface Discussion extends Listing<CommentBody> {
  /** Is false where the maker turned off comments. */
  canComment: boolean
  replyTo: CommentBody | undefined
}

function commentSection(
  ctx: AppContext,
  item: Item,
  { all, ways, canComment, replyTo }: Discussion,
  visitor: ItemVisitor | undefined,
): Html {
  const authors = new Map(all.map((one) => [one.id, one.author]))
  const line = curlRequest(ctx, 'POST', `${item.id}/comments`, { text: 'How far does it go?' })
  const comment = (one: CommentBody): Html => {
    const { author, text, created, pinned, replyTo: parent } = one
    const to = parent === null ? undefined : authors.get(parent)
    return html`<li>
      <p class="small">
        <strong>${author}</strong>${to && html` to ${to}`} ·
        ${renderDate(created)}${pinned && ' · Pinned'}
      </p>
      <p class="text"><bdi>${text}</bdi></p>
      ${canComment && commentActions(item, visitor, one)}
    </li>`
  }
  return html`<section id="comments">
    <h2>Comments</h2>
    ${canComment && commentForm(item, visitor, replyTo)}
    ${
      all.length === 0
        ? html`<p>No comments yet.</p>`
        : html`<ul class="feedback">
            ${all.map(comment)}
          </ul>`
    }
    ${ways} ${requestDetails('Comment with curl', line)}
  </section>`
}
