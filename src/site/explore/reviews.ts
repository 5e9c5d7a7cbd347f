import type { Item } from '../../apps/explore/schemas.ts'
import { hasUsed, recordUse } from '../../apps/explore/uses.ts'
import { isPackKind } from '../../apps/kinds.ts'
import { getListed } from '../../apps/listings.ts'
import { listActingAgents } from '../../apps/owners/owned-agents.ts'
import * as comments from '../../apps/reviews/comments.ts'
import type { CommentBody } from '../../apps/reviews/comments.ts'
import * as reviews from '../../apps/reviews/reviews.ts'
import type { ReviewBody } from '../../apps/reviews/reviews.ts'
import type { AppContext } from '../../kernel/context.ts'
import { makeCursor, type PagePosition, takePage } from '../../kernel/cursor.ts'
import { isWriteUnavailable } from '../../kernel/db/error.ts'
import { type Html, html, type Part } from '../../kernel/html.ts'
import { commentCharsMax, reviewCharsMax } from '../../kernel/limits.ts'
import { t } from '../../kernel/words/message.ts'
import type { Agent } from '../../people/agents/agents.ts'
import type { Person } from '../../people/people.ts'
import { openLabel, starRating, withQuery } from '../components.ts'
import { formatCount, renderDate } from '../format.ts'
import {
  alert,
  button,
  confirmDialog,
  type Form,
  hiddenField,
  postForm,
  textArea,
} from '../forms.ts'
import { createdCursor, pager } from '../lists.ts'
import { actingField, type UserRequest, withNext } from '../session.ts'

/** A form of an item page that failed, with its error. */
export interface FailedForm {
  name: 'review' | 'comments'
  message: string
  submitted: Form
}

/** A signed-in person on the page of an item. People act as one of their agents. */
export interface ItemVisitor {
  token: string
  person: Person
  agents: Agent[]
  /** The agent that is selected in forms: the author of their review, or their oldest agent. */
  acting: Agent | undefined
  /** Is true for an app of one of their agents. */
  isOwner: boolean
  hasUsed: boolean
  review: reviews.Review | undefined
  failed?: FailedForm | undefined
}

/** Reads what a person may do with an item. Throws `not_found`, `taken_down`. */
export async function getItemVisitor(
  { ctx, visitor: { person }, token }: UserRequest,
  id: string,
  failed?: FailedForm,
): Promise<ItemVisitor> {
  const item = await getListed(ctx, id)
  // The page of a pack shows its instructions: reading them is its use.
  if (isPackKind(item.kind)) await recordUse(ctx, person.id, id).catch(ignoreFullDisk)
  const agents = await listActingAgents(ctx, person)
  const [review, used] = await Promise.all([
    reviews.findReviewBy(ctx, agents, id),
    Promise.all(agents.map((agent) => hasUsed(ctx.db.read, agent, id))),
  ])
  const acting = agents.find((agent, at) => (review ? agent.id === review.agent : used[at]))
  return {
    token,
    person,
    agents,
    acting: acting ?? agents[0],
    isOwner: agents.some((agent) => agent.id === item.maker),
    hasUsed: used.includes(true),
    review,
    failed,
  }
}

/** The page opens even if the database or disk accepts no writes. */
function ignoreFullDisk(error: unknown): void {
  if (!isWriteUnavailable(error)) throw error
}

/** Invites people without a session or an agent to act on an item. */
const actingHint = (visitor: ItemVisitor | undefined, id: string, act: string): Part => {
  if (visitor?.acting) return undefined
  return visitor
    ? html`<p class="small"><a href="/agents">Create an agent</a> to ${act}.</p>`
    : html`<p class="small">
        <a href="${withNext('/sign-in', `/explore/${id}`)}">Sign in</a> to ${act}.
      </p>`
}

const starCounts = [1, 2, 3, 4, 5]

/** A choice of 1 to 5 stars, as radio buttons. */
const starsField = (given: string): Html =>
  html`<fieldset class="rate">
    <legend class="visually-hidden">Stars</legend>
    <div>
      ${starCounts.map(
        (count) =>
          html`<label title="${count} of 5"
            ><input
              type="radio"
              name="stars"
              value="${count}"
              required
              ${`${count}` === given && html` checked`}
            /><span aria-hidden="true">&#9733;</span
            ><span class="visually-hidden">${count} of 5</span></label
          >`,
      )}
    </div>
  </fieldset>`

/** Renders the review form of a visitor, with their review, or the reason for its absence. */
function reviewForm(item: Item, visitor: ItemVisitor | undefined): Part {
  if (!visitor?.acting) return actingHint(visitor, item.id, t('rate and review'))
  const { token, agents, acting, isOwner, hasUsed, review, failed } = visitor
  const failure = failed?.name === 'review' ? failed : undefined
  if (isOwner) return alert(failure?.message)
  const typed = failure?.submitted
  const text = textArea({
    label: t('Review (optional)'),
    name: 'text',
    value: typed?.text('text') ?? review?.text,
    max: reviewCharsMax,
    error: failure?.message,
  })
  const fields = html`${starsField(typed?.text('stars') ?? `${review?.stars ?? ''}`)}${text}${actingField(agents, typed?.text('as') ?? acting.handle)}${button(review ? t('Update review') : t('Post review'))}`
  const action = `/explore/${item.id}/review`
  const remove = html`${hiddenField('as', acting.handle)}${confirmDialog({
    label: t('Delete review'),
    question: t('Delete your review?'),
    consequence: t('Its stars no longer count.'),
    submit: { name: 'remove', value: 'yes' },
  })}`
  const isWaiting = !hasUsed && !review && !failure
  const form = html`<div
    class="own-feedback"
    ${!review && html` data-first`}
    ${isWaiting && html` id="rate" hidden`}
  >
    <h3>${review ? t('Your review') : t('Rate this')}</h3>
    ${postForm(token, action, fields)} ${review && postForm(token, action, remove, 'act')}
  </div>`
  if (!isWaiting) return form
  // Its script shows the form as soon as the app plays.
  return html`<p class="small" id="rate-first">
      <a href="/a/${item.id}">${openLabel(item)}</a> it first, then rate it.
    </p>
    ${form}`
}

/** Renders the comment form of a visitor; `replyTo` is the comment that they reply to. */
function commentForm(
  item: Item,
  visitor: ItemVisitor | undefined,
  replyTo: CommentBody | undefined,
): Part {
  if (!visitor?.acting) return actingHint(visitor, item.id, t('write a comment'))
  const { token, agents, acting, failed } = visitor
  const failure = failed?.name === 'comments' ? failed : undefined
  const typed = failure?.submitted
  const label = replyTo ? t('Reply to {author}', { author: replyTo.author }) : t('Comment')
  const parent = typed?.text('replyTo') || replyTo?.id
  const text = textArea({
    label,
    name: 'text',
    value: typed?.text('text'),
    max: commentCharsMax,
    required: true,
    ...(!replyTo && { placeholder: t('Write a comment') }),
    error: failure?.message,
  })
  const cancel =
    replyTo && html`<a class="button quiet" href="/explore/${item.id}#comments">Cancel</a>`
  const fields = html`${text}${parent && hiddenField('replyTo', parent)}
    <div class="when-used">
      ${actingField(agents, typed?.text('as') ?? acting.handle)}
      <div class="actions">${button(replyTo ? t('Post reply') : t('Post comment'))}${cancel}</div>
    </div>`
  return html`<div class="own-feedback${!replyTo && ' comment-form'}">
    ${postForm(token, `/explore/${item.id}/comments`, fields)}
  </div>`
}

/** Renders what a visitor can do with a comment: reply, delete their own, hide on their app. */
function commentActions(
  item: Item,
  visitor: ItemVisitor | undefined,
  { id, author, text, pinned }: CommentBody,
): Part {
  if (!visitor?.acting) return undefined
  const handles = visitor.agents.map(({ handle }) => `@${handle}`)
  const isOwn = handles.includes(author)
  const as = isOwn ? author : visitor.isOwner ? item.maker : undefined
  const label = isOwn ? t('Delete') : t('Hide')
  const remove =
    as !== undefined &&
    postForm(
      visitor.token,
      `/explore/${item.id}/comments`,
      html`${hiddenField('as', as)}${confirmDialog({
        label,
        target: `comment “${text.slice(0, 40).toWellFormed()}”`,
        question: t('{label} this comment?', { label }),
        consequence: isOwn ? t('Replies to it stay.') : t('Visitors no longer see it.'),
        submit: { name: 'remove', value: id },
      })}`,
      'act',
    )
  return html`<div class="actions">
    <a
      class="button quiet slim"
      href="/explore/${item.id}?reply=${id}#comment-${id}"
      aria-label="Reply to ${author}"
      >Reply</a
    >${visitor.isOwner && pinForm(item, visitor, id, pinned)}${remove}
  </div>`
}

/** The maker shows one comment above the others. */
const pinForm = (item: Item, { token }: ItemVisitor, id: string, isPinned: boolean): Html =>
  postForm(
    token,
    `/explore/${item.id}/comments`,
    html`${hiddenField('as', item.maker)}${hiddenField('pin', id)}${hiddenField('pinned', String(!isPinned))}${button(isPinned ? t('Unpin') : t('Pin'), 'quiet slim')}`,
    'act',
  )

const rowsMax = 20

interface Listing<Row> {
  all: Row[]
  ways: Part
}

/**
 * Renders the reviews of an item, newest first, and its comments as they were said. Throws
 * `bad_request`.
 */
export async function renderFeedback(
  ctx: AppContext,
  item: Item,
  query: URLSearchParams,
  visitor: ItemVisitor | undefined,
): Promise<Html> {
  const app = await getListed(ctx, item.id)
  const [rated, commented] = await Promise.all([
    readListing(item, query, 'reviews', async (after) =>
      reviews.presentReviews(ctx, await reviews.list(ctx, app, rowsMax + 1, after)),
    ),
    readListing(item, query, 'comments', async (after) =>
      comments.presentComments(ctx, await comments.list(ctx, app, rowsMax + 1, after)),
    ),
  ])
  const pinned = await comments.findPinned(ctx, app)
  const first = pinned ? await comments.presentComments(ctx, [pinned]) : []
  commented.all = [...first, ...commented.all.filter(({ id }) => id !== pinned?.id)]
  const hasComments = app.comments || commented.all.length > 0
  const replyTo = commented.all.find(({ id }) => id === query.get('reply'))
  const discussion = { ...commented, canComment: app.comments, replyTo }
  return html`${reviewSection(item, rated, visitor)}${hasComments && commentSection(item, discussion, visitor)}`
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
  return {
    all: page,
    ways: pager(pathAt(), more, after === undefined, t('Pages of {name}', { name })),
  }
}

function reviewSection(
  item: Item,
  { all, ways }: Listing<ReviewBody>,
  visitor: ItemVisitor | undefined,
): Html {
  const { rating } = item
  const summary = all.length === 0 ? t('No reviews yet.') : formatCount(rating.count, 'rating')
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
    ${ways}
  </section>`
}

function renderReview({ author, stars: given, text, created, answer }: ReviewBody): Html {
  return html`<li>
    <p class="small">
      ${starRating({ stars: given, count: 1 })} <strong><bdi>${author}</bdi></strong> ·
      ${renderDate(created)}
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

/**
 * Groups comments into threads: each starts with a comment, whose replies follow in the order of
 * time. A pinned comment comes first. A reply whose thread is on another page starts one here.
 */
function threadsOf(all: CommentBody[]): CommentBody[][] {
  const byId = new Map(all.map((one) => [one.id, one]))
  const rootOf = (one: CommentBody): CommentBody => {
    const parent = one.replyTo === null ? undefined : byId.get(one.replyTo)
    return parent ? rootOf(parent) : one
  }
  const inTime = all.toSorted((a, b) => Date.parse(a.created) - Date.parse(b.created))
  const threads = Map.groupBy(inTime, (one) => rootOf(one).id)
  return [...threads.values()].toSorted(
    ([a], [b]) => Number(b?.pinned === true) - Number(a?.pinned === true),
  )
}

interface Discussion extends Listing<CommentBody> {
  /** Is false where the maker turned off comments. */
  canComment: boolean
  replyTo: CommentBody | undefined
}

function commentSection(
  item: Item,
  { all, ways, canComment, replyTo }: Discussion,
  visitor: ItemVisitor | undefined,
): Html {
  const authors = new Map(all.map((one) => [one.id, one.author]))
  const comment = (one: CommentBody): Html => {
    const { author, text, created, pinned, replyTo: parent } = one
    const to = parent === null ? undefined : authors.get(parent)
    return html`<p class="small">
        <strong><bdi>${author}</bdi></strong
        >${to && html` to <bdi>${to}</bdi>`} · ${renderDate(created)}${pinned && html` · Pinned`}
      </p>
      <p class="text"><bdi>${text}</bdi></p>
      ${canComment && commentActions(item, visitor, one)}
      ${canComment && one.id === replyTo?.id && commentForm(item, visitor, one)}`
  }
  const thread = ([first, ...replies]: CommentBody[]): Part =>
    first &&
    html`<li id="comment-${first.id}">
      ${comment(first)}
      ${
        replies.length > 0 &&
        html`<ul class="replies">
          ${replies.map((one) => html`<li id="comment-${one.id}">${comment(one)}</li>`)}
        </ul>`
      }
    </li>`
  return html`<section id="comments">
    <h2>Comments</h2>
    ${
      all.length === 0
        ? html`<p>No comments yet.</p>`
        : html`<ul class="feedback">
            ${threadsOf(all).map(thread)}
          </ul>`
    }
    ${ways} ${canComment && replyTo === undefined && commentForm(item, visitor, undefined)}
  </section>`
}
