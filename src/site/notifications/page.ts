import { presentCover } from '../../apps/covers/present-cover.ts'
import { listNews } from '../../apps/explore/follows.ts'
import { readAllNotes } from '../../apps/owners/operations.ts'
import { listActingAgents } from '../../apps/owners/owned-agents.ts'
import { iconUrl } from '../../apps/present.ts'
import type { AppContext } from '../../kernel/context.ts'
import { type Html, html, type Part } from '../../kernel/html.ts'
import { msg, t } from '../../kernel/words/message.ts'
import { type Agent, findHandles } from '../../people/agents/agents.ts'
import * as notes from '../../people/notifications/notifications.ts'
import { form } from '../form.ts'
import { renderAge } from '../format.ts'
import { alert, button, postForm } from '../forms.ts'
import type { Layout, Page } from '../layout.ts'
import { emptyState, tabNav } from '../lists.ts'
import { pageRoutes, userForm, userPage, type UserRequest } from '../session.ts'
import { itemCover } from '../tiles.ts'
import { wireWord } from '../wire-words.ts'
import { noteRows, notificationDays, type NotificationRow, notificationRow } from './rows.ts'

/** Notifications on the page; those of one agent are on the page of the agent. */
const notesMax = 100

const pagePath = '/notifications'
const unreadPath = '/notifications?show=unread'
export const followingPath = '/notifications/following'

/** The head of the pages of notifications; `act` stands beside the title. */
export const notificationsHead = (
  { user }: Pick<UserRequest, 'user'>,
  path: string,
  act: Part = false,
): Html =>
  html`<div class="head title">
      <h1>Notifications</h1>
      ${act}
    </div>
    ${tabNav(
      t('Notifications'),
      [
        [pagePath, t('All')],
        [unreadPath, t('Unread ({count})', { count: user?.unread ?? 0 })],
        [followingPath, t('Makers you follow')],
      ],
      path,
    )}`

/** The notifications of a person: those of all their agents, and news of followed makers. */
export const notificationRoutes = (ctx: AppContext, layout: Layout) =>
  pageRoutes(ctx, layout)
    .get(pagePath, ({ input }) => userPage(input, (req) => notificationsPage(req)))
    .post(pagePath, ({ input }) =>
      userForm(input, form(readAllNotes, { then: pagePath }), notificationsPage),
    )

/** Lists the newest notes of agents. `isCut`: there are earlier ones. */
async function listAgentNotes(ctx: AppContext, agents: Agent[], unread: boolean) {
  const lists = await Promise.all(
    agents.map(async ({ id, handle }) => {
      const found = await notes.listNotes(ctx, id, { unread, limit: notesMax + 1 })
      return found.map((note) => ({ note, handle }))
    }),
  )
  const newest = lists.flat().toSorted((a, b) => b.note.at - a.note.at)
  const rows = await noteRows(ctx, newest.slice(0, notesMax), { hasHandles: agents.length > 1 })
  return { rows, isCut: newest.length > notesMax }
}

async function listNewItems(
  ctx: AppContext,
  person: string,
  unread: boolean,
): Promise<NotificationRow[]> {
  const news = (await listNews(ctx, person)).filter(({ isUnread }) => isUnread || !unread)
  const makers = await findHandles(
    ctx,
    news.map(({ item }) => item.maker),
  )
  return news.map(({ item, at, isUnread }) => {
    const { id, kind, title, maker } = item
    const handle = `@${makers.get(maker)}`
    const shown = { ...item, icon: iconUrl(ctx, item), cover: presentCover(ctx, item) }
    const row = notificationRow({
      href: `/explore/${id}`,
      image: itemCover(ctx, shown, { widths: 'thumbnail' }),
      isUnread,
      text: html`<bdi>${handle}</bdi> published the ${wireWord(kind)}
        <strong><bdi>${title}</bdi></strong>`,
      age: renderAge(at, ctx.clock.now()),
      fact: html`You follow <bdi>${handle}</bdi>`,
    })
    return { at, hasFailed: false, row }
  })
}

async function notificationsPage(req: UserRequest, message?: string): Promise<Page> {
  const { ctx, token, visitor, query, user } = req
  const unread = query.get('show') === 'unread'
  const agents = await listActingAgents(ctx, visitor.person)
  const [own, news] = await Promise.all([
    listAgentNotes(ctx, agents, unread),
    listNewItems(ctx, visitor.person.id, unread),
  ])
  const rows = [...own.rows, ...news].toSorted((a, b) => b.at - a.at).slice(0, notesMax)
  const readAll =
    (user?.unread ?? 0) > 0 &&
    postForm(token, pagePath, button(t('Mark all as read'), 'quiet slim'), 'act')
  const none = unread ? allRead : nothingYet
  const main = html`${notificationsHead(req, unread ? unreadPath : pagePath, readAll)}
  ${alert(message)} ${rows.length > 0 ? notificationDays(rows, ctx.clock.now()) : none}
  ${own.isCut && html`<p class="small">Earlier ones are on the pages of <a href="/agents">your agents</a>.</p>`}`
  return { title: t('Notifications'), main }
}

const allRead = emptyState(
  msg('You have read everything'),
  msg('New notifications appear here until you mark them as read.'),
  html`<a class="button quiet" href="/notifications">All notifications</a>`,
)

const nothingYet = emptyState(
  msg('No notifications yet'),
  msg(
    'Reviews, comments, remixes and sales of your apps appear here, and new items of makers you follow.',
  ),
  html`<a class="button quiet" href="/new">Make an app</a>`,
)
