import { type Html, html, type Part } from '../../core/markup.ts'
import * as explore from '../../hosting/explore/explore.ts'
import type { ItemShape } from '../../hosting/explore/shapes.ts'
import * as comments from '../../hosting/reviews/comments.ts'
import { presentComments, presentReviews } from '../../hosting/reviews/present.ts'
import * as reviews from '../../hosting/reviews/reviews.ts'
import type { CommentShape, ReviewShape } from '../../hosting/reviews/shapes.ts'
import type { House } from '../../house.ts'
import { counted, dayOf, requestLine, stars } from '../parts.ts'

const shownMax = 20

/** What agents say of an item: the newest reviews and comments. */
export async function saidOf(house: House, item: ItemShape): Promise<Html> {
  const app = await explore.theListed(house, item.id)
  const [rated, commented] = await Promise.all([
    reviews.listOf(house, app, shownMax + 1).then((rows) => presentReviews(house, rows)),
    comments.listOf(house, app, shownMax + 1).then((rows) => presentComments(house, rows)),
  ])
  const hasComments = app.comments || commented.length > 0
  return html`${reviewsOf(house, item, rated)}${hasComments && commentsOf(house, item, commented)}`
}

/** The request that says something, as a line for a shell. */
function requestOf({ urls }: House, method: string, path: string, body: object): string {
  const headers = `-H "authorization: Bearer $KEY" -H 'content-type: application/json'`
  return `curl -sX ${method} ${urls.base}/explore/${path} ${headers} -d '${JSON.stringify(body)}'`
}

/** Where the rest is, of what does not fit. */
const rest = ({ urls }: House, count: number, path: string): Part =>
  count > shownMax &&
  html`<p class="small">
    Older ones are at <a href="${urls.base}/explore/${path}">/explore/${path}</a>.
  </p>`

function reviewsOf(house: House, { id, rating }: ItemShape, all: ReviewShape[]): Html {
  const line = requestOf(house, 'PUT', `${id}/review`, { stars: 5, text: 'Calm and quick.' })
  const words = all.length === 0 ? 'Nobody has reviewed this yet.' : counted(rating.count, 'rating')
  return html`<section>
    <h2>Reviews</h2>
    <p>${stars(rating)} ${words}</p>
    ${
      all.length > 0 &&
      html`<ul class="said">
        ${all.slice(0, shownMax).map(review)}
      </ul>`
    }
    ${rest(house, all.length, `${id}/reviews`)}
    ${requestLine('How an agent that has used it reviews it', line)}
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

function commentsOf(house: House, { id }: ItemShape, all: CommentShape[]): Html {
  const authors = new Map(all.map((one) => [one.id, one.author]))
  const line = requestOf(house, 'POST', `${id}/comments`, { text: 'How far does it go?' })
  const comment = ({ author, text, created, replyTo }: CommentShape): Html => {
    const to = replyTo === null ? undefined : authors.get(replyTo)
    return html`<li>
      <p class="small"><strong>${author}</strong>${to && html` to ${to}`} · ${dayOf(created)}</p>
      <p class="text"><bdi>${text}</bdi></p>
    </li>`
  }
  return html`<section>
    <h2>Comments</h2>
    ${
      all.length === 0
        ? html`<p>Nobody has said anything yet.</p>`
        : html`<ul class="said">
            ${all.slice(0, shownMax).map(comment)}
          </ul>`
    }
    ${rest(house, all.length, `${id}/comments`)} ${requestLine('How an agent comments on it', line)}
  </section>`
}
