import { listFollows } from '../apps/explore/follows.ts'
import { followMaker, unfollowMaker } from '../apps/explore/operations.ts'
import type { AppContext } from '../kernel/context.ts'
import { html } from '../kernel/html.ts'
import { idPattern } from '../kernel/ids.ts'
import { t } from '../kernel/words/message.ts'
import { findHandles } from '../people/agents/agents.ts'
import { renderAvatar } from './art.ts'
import { personalMakerPage } from './explore/maker.ts'
import { followForm } from './follow-control.ts'
import { form } from './form.ts'
import { renderDate } from './format.ts'
import type { Layout, Page } from './layout.ts'
import { emptyState, itemList, numberPager, paginate } from './lists.ts'
import { followingPath, notificationsHead } from './notifications/page.ts'
import { pageRoutes, redirectTo, userForm, userPage, type UserRequest } from './session.ts'

const rowsMax = 50

/** Renders the makers that a person follows. */
async function followingPage(req: UserRequest): Promise<Page> {
  const { ctx, query, token, visitor } = req
  const all = await listFollows(ctx, visitor.person.id)
  const shown = paginate(query, all, rowsMax)
  const makers = shown.rows.map(({ maker }) => maker)
  const handles = await findHandles(ctx, makers)
  const rows = shown.rows.map(({ maker: id, created }) => {
    const maker = `@${handles.get(id)}`
    return html`<li class="following">
      ${renderAvatar(maker)}
      <div>
        <a href="/explore/${maker}"><bdi>${maker}</bdi></a
        ><br /><span class="small">since ${renderDate(created)}</span>
      </div>
      ${followForm(token, { maker, isFollowing: true, from: 'list' })}
    </li>`
  })
  const nobody = emptyState(
    t('You follow no makers yet'),
    t(
      'Follow a maker on their page or on the page of an item. Their new items appear in your notifications.',
    ),
    html`<a class="button quiet" href="/explore">Explore</a>`,
  )
  const main = html`${notificationsHead(req, followingPath)}
    <h2 class="visually-hidden">Makers you follow</h2>
    <div class="following-list">${itemList(rows, nobody)}</div>
    ${numberPager(followingPath, shown, {})}`
  return { title: t('Makers you follow'), main }
}

/** Following makers, as the signed-in person. */
export const followRoutes = (ctx: AppContext, layout: Layout) =>
  pageRoutes(ctx, layout)
    .get(followingPath, ({ input }) => userPage(input, followingPage))
    .get('/explore/:name/follow', ({ params }) => redirectTo(makerPath(params.name)))
    .post('/explore/:name/follow', ({ input, params: { name } }) =>
      userForm(
        input,
        (req, sent) => {
          const operation = sent.text('follow') === 'no' ? unfollowMaker : followMaker
          const back = () => pageOf(sent.text('from'), name)
          return form(operation, { params: { handle: name }, then: back })(req, sent)
        },
        (req, message) => personalMakerPage(req, name, message),
      ),
    )

const makerPath = (name: string): string =>
  `/explore/@${encodeURIComponent(name.replace(/^@/, ''))}`

/** Returns the path of the page with the form: the list, an item, or the page of the maker. */
function pageOf(from: string, maker: string): string {
  if (from === 'list') return followingPath
  return idPattern.test(from) ? `/explore/${from}` : makerPath(maker)
}
