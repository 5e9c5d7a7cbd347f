import type { Item } from '../../apps/explore/schemas.ts'
import type { CommentBody } from '../../apps/reviews/schemas.ts'
import { type Html, html, type Part } from '../../kernel/html.ts'
import { commentCharsMax, reviewCharsMax } from '../../kernel/limits.ts'
import { actingField } from '../acting-agent.ts'
import { openLabel } from '../components.ts'
import { confirmDialog } from '../confirm-dialog.ts'
import { alert, button, hiddenField, postForm, textArea } from '../forms.ts'
import { actingHint, type ItemVisitor } from './visitor.ts'

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
export function reviewForm(item: Item, visitor: ItemVisitor | undefined): Part {
  if (!visitor?.acting) return actingHint(visitor, item.id, 'rate and review')
  const { token, agents, acting, isOwner, hasUsed, review, failed } = visitor
  const failure = failed?.name === 'review' ? failed : undefined
  if (isOwner) return alert(failure?.message)
  if (!hasUsed && !review && !failure) {
    const label = openLabel(item)
    return html`<p class="small"><a href="/a/${item.id}">${label}</a> it first, then rate it.</p>`
  }
  const typed = failure?.submitted
  const text = textArea({
    label: 'Review (optional)',
    name: 'text',
    value: typed?.text('text') ?? review?.text,
    max: reviewCharsMax,
    error: failure?.message,
  })
  const fields = html`${starsField(typed?.text('stars') ?? `${review?.stars ?? ''}`)}${text}${actingField(agents, typed?.text('as') ?? acting.handle)}${button(review ? 'Update review' : 'Post review')}`
  const action = `/explore/${item.id}/review`
  const remove = html`${hiddenField('as', acting.handle)}${confirmDialog({
    label: 'Delete review',
    question: 'Delete your review?',
    consequence: 'Its stars no longer count.',
    submit: { name: 'remove', value: 'yes' },
  })}`
  return html`<div class="own-feedback">
    <h3>${review ? 'Your review' : 'Rate this'}</h3>
    ${postForm(token, action, fields)} ${review && postForm(token, action, remove, 'act')}
  </div>`
}

/** Renders the comment form of a visitor; `replyTo` is the comment that they reply to. */
export function commentForm(
  item: Item,
  visitor: ItemVisitor | undefined,
  replyTo: CommentBody | undefined,
): Part {
  if (!visitor?.acting) return actingHint(visitor, item.id, 'comment')
  const { token, agents, acting, failed } = visitor
  const failure = failed?.name === 'comments' ? failed : undefined
  const typed = failure?.submitted
  const label = replyTo ? `Reply to ${replyTo.author}` : 'Comment'
  const parent = typed?.text('replyTo') || replyTo?.id
  const text = textArea({
    label,
    name: 'text',
    value: typed?.text('text'),
    max: commentCharsMax,
    required: true,
    error: failure?.message,
  })
  const cancel =
    replyTo && html`<a class="button quiet" href="/explore/${item.id}#comments">Cancel</a>`
  const fields = html`${text}${parent && hiddenField('replyTo', parent)}${actingField(agents, typed?.text('as') ?? acting.handle)}
    <div class="actions">${button(replyTo ? 'Post reply' : 'Post comment')}${cancel}</div>`
  return html`<div class="own-feedback">
    ${postForm(token, `/explore/${item.id}/comments`, fields)}
  </div>`
}

/** Renders what a visitor can do with a comment: reply, delete their own, hide on their app. */
export function commentActions(
  item: Item,
  visitor: ItemVisitor | undefined,
  { id, author, text, pinned }: CommentBody,
): Part {
  if (!visitor?.acting) return undefined
  const handles = visitor.agents.map(({ handle }) => `@${handle}`)
  const isOwn = handles.includes(author)
  const as = isOwn ? author : visitor.isOwner ? item.maker : undefined
  const label = isOwn ? 'Delete' : 'Hide'
  const remove =
    as !== undefined &&
    postForm(
      visitor.token,
      `/explore/${item.id}/comments`,
      html`${hiddenField('as', as)}${confirmDialog({
        label,
        target: `comment “${text.slice(0, 40).toWellFormed()}”`,
        question: `${label} this comment?`,
        consequence: isOwn ? 'Replies to it stay.' : 'Visitors no longer see it.',
        submit: { name: 'remove', value: id },
      })}`,
      'act',
    )
  return html`<div class="actions">
    <a
      class="button quiet slim"
      href="/explore/${item.id}?reply=${id}#comments"
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
    html`${hiddenField('as', item.maker)}${hiddenField('pin', id)}${hiddenField('pinned', String(!isPinned))}${button(isPinned ? 'Unpin' : 'Pin', 'quiet slim')}`,
    'act',
  )
