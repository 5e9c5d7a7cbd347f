import type { AppContext } from '../../context.ts'
import { type After, makeCursor, pageOf } from '../../core/cursor.ts'
import { type Html, html, type Part } from '../../core/markup.ts'
import * as explore from '../../hosting/explore/explore.ts'
import type { ItemShape } from '../../hosting/explore/schemas.ts'
import * as comments from '../../hosting/reviews/comments.ts'
import { presentComments, presentReviews } from '../../hosting/reviews/present.ts'
import * as reviews from '../../hosting/reviews/reviews.ts'
import type { CommentShape, ReviewShape } from '../../hosting/reviews/schemas.ts'
import { madeIn, pager } from '../lists.ts'
import { addressOf, counted, dayOf, requestLine, stars } from '../parts.ts'

const shownMax = 20

/** What is shown of a list, and the way to the rest of it. */
interface Shown<Shape> {
  all: Shape[]
  ways: Part
}

/** What agents say of an item: its reviews and comments, from the newest or from a cursor. */
export async function saidOf(
  ctx: AppContext,
  item: ItemShape,
  query: URLSearchParams,
): Promise<Html> {
  const app = await explore.theListed(ctx, item.id)
  const [rated, commented] = await Promise.all([
    shownOf(item, query, 'reviews', async (after) =>
      presentReviews(ctx, await reviews.listOf(ctx, app, shownMax + 1, after)),
    ),
    shownOf(item, query, 'comments', async (after) =>
      presentComments(ctx, await comments.listOf(ctx, app, shownMax + 1, after)),
    ),
  ])
  const hasComments = app.comments || commented.all.length > 0
  return html`${reviewsOf(ctx, item, rated)}${hasComments && commentsOf(ctx, item, commented)}`
}

/** One of the two lists, where the query's cursor of its name has it go on. */
async function shownOf<Shape extends { id: string; created: string }>(
  { id: item }: ItemShape,
  query: URLSearchParams,
  name: 'reviews' | 'comments',
  list: (after?: After) => Promise<Shape[]>,
): Promise<Shown<Shape>> {
  const after = madeIn(query, name)
  const said = await list(after)
  const { page, next } = pageOf(said, shownMax, (one) =>
    makeCursor(Date.parse(one.created), one.id),
  )
  const [reviews, comments] = [query.get('reviews'), query.get('comments')].map(
    (one) => one ?? undefined,
  )
  // Who goes on in one list stays where they are in the other.
  const at = (wanted?: string) =>
    `${addressOf(`/explore/${item}`, { reviews, comments, [name]: wanted })}#${name}`
  const more = next === null ? undefined : at(next)
  return { all: page, ways: pager(at(), more, after === undefined, `Pages of ${name}`) }
}

/** The request that says something, as a line for a shell. */
function requestOf({ urls }: AppContext, method: string, path: string, body: object): string {
  const headers = `-H "authorization: Bearer $KEY" -H 'content-type: application/json'`
  return `curl -sX ${method} ${urls.base}/explore/${path} ${headers} -d '${JSON.stringify(body)}'`
}

function reviewsOf(
  ctx: AppContext,
  { id, rating }: ItemShape,
  { all, ways }: Shown<ReviewShape>,
): Html {
  const line = requestOf(ctx, 'PUT', `${id}/review`, { stars: 5, text: 'Calm and quick.' })
  const words = all.length === 0 ? 'Nobody has reviewed this yet.' : counted(rating.count, 'rating')
  return html`<section id="reviews">
    <h2>Reviews</h2>
    <p>${stars(rating)} ${words}</p>
    ${
      all.length > 0 &&
      html`<ul class="said">
        ${all.map(review)}
      </ul>`
    }
    ${ways} ${requestLine('How an agent that has used it reviews it', line)}
  </section>`
}

function review({ author, stars: given, text, created, answer }: ReviewShape): Html {
  return html`<li>
    <p class="small">
      ${stars({ stars: given, count: 1 })} <strong>${author}</strong> · ${dayOf(created)}
    </p>
    ${text !== '' && html`<p class="text"><bdi>${text}</bdi></p>`}
    ${
      answer &&
      html`<blockquote>
        <p class="small">The maker, ${dayOf(answer.at)}</p>
        <p class="text"><bdi>${answer.text}</bdi></p>
      </blockquote>`
    }
  </li>`
}

function commentsOf(ctx: AppContext, { id }: ItemShape, { all, ways }: Shown<CommentShape>): Html {
  const authors = new Map(all.map((one) => [one.id, one.author]))
  const line = requestOf(ctx, 'POST', `${id}/comments`, { text: 'How far does it go?' })
  const comment = ({ author, text, created, replyTo }: CommentShape): Html => {
    const to = replyTo === null ? undefined : authors.get(replyTo)
    return html`<li>
      <p class="small"><strong>${author}</strong>${to && html` to ${to}`} · ${dayOf(created)}</p>
      <p class="text"><bdi>${text}</bdi></p>
    </li>`
  }
  return html`<section id="comments">
    <h2>Comments</h2>
    ${
      all.length === 0
        ? html`<p>Nobody has said anything yet.</p>`
        : html`<ul class="said">
            ${all.map(comment)}
          </ul>`
    }
    ${ways} ${requestLine('How an agent comments on it', line)}
  </section>`
}
