import { listFollows } from '../../apps/explore/follows.ts'
import { html } from '../../kernel/html.ts'
import { findHandles } from '../../people/agents/agents.ts'
import { renderDate } from '../format.ts'
import type { Page } from '../layout.ts'
import { emptyState, itemList, numberPager, paginate } from '../lists.ts'
import type { UserRequest } from '../session.ts'
import { followForm } from './control.ts'

const rowsMax = 50

/** Renders the makers that a person follows. */
export async function followingPage({ ctx, query, token, visitor }: UserRequest): Promise<Page> {
  const all = await listFollows(ctx, visitor.person.id)
  const shown = paginate(query, all, rowsMax)
  const makers = shown.rows.map(({ maker }) => maker)
  const handles = await findHandles(ctx, makers)
  const rows = shown.rows.map(({ maker: id, created }) => {
    const maker = `@${handles.get(id)}`
    return html`<li class="following">
      <span class="avatar" aria-hidden="true">${maker.charAt(1).toUpperCase()}</span>
      <div>
        <a href="/explore/${maker}">${maker}</a><br /><span class="small"
          >since ${renderDate(created)}</span
        >
      </div>
      ${followForm(token, { maker, isFollowing: true, from: 'list' })}
    </li>`
  })
  const nobody = emptyState(
    'You follow no makers yet',
    'Follow a maker on their page or on the page of an item. Their new items appear in your notifications.',
    html`<a class="button quiet" href="/explore">Explore</a>`,
  )
  const main = html`<div class="narrow">
    <p class="crumb"><a href="/notifications">Notifications</a></p>
    <h1>Makers you follow</h1>
    ${itemList(rows, nobody)} ${numberPager('/notifications/following', shown, {})}
  </div>`
  return { title: 'Makers you follow', main }
}
