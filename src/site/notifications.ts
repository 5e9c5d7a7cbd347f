import { presentCover } from '../apps/covers/present-cover.ts'
import { listTilesByIds } from '../apps/explore/explore.ts'
import { listNews } from '../apps/explore/follows.ts'
import type { Tile } from '../apps/explore/schemas.ts'
import { readAllNotes } from '../apps/owners/operations.ts'
import { listActingAgents } from '../apps/owners/owned-agents.ts'
import { iconUrl } from '../apps/present.ts'
import type { AppContext } from '../kernel/context.ts'
import { type Html, html } from '../kernel/html.ts'
import { msg, t } from '../kernel/words/message.ts'
import { type Agent, findHandles } from '../people/agents/agents.ts'
import * as notes from '../people/notifications/notifications.ts'
import { renderNote, unreadMark } from './agents/agent.ts'
import { renderAvatar } from './art.ts'
import { form } from './form.ts'
import { renderDateTime } from './format.ts'
import { alert, button, postForm } from './forms.ts'
import type { Layout, Page } from './layout.ts'
import { emptyState, itemList } from './lists.ts'
import { pageRoutes, userForm, userPage, type UserRequest } from './session.ts'
import { itemCover } from './tiles.ts'
import { wireWord } from './wire-words.ts'

/** Notifications on the page; those of one agent are on the page of the agent. */
const notesMax = 50

/** The notifications of a person: those of all their agents, and news of followed makers. */
export const notificationRoutes = (ctx: AppContext, layout: Layout) =>
  pageRoutes(ctx, layout)
    .get('/notifications', ({ input }) => userPage(input, notificationsPage))
    .post('/notifications', ({ input }) =>
      userForm(input, form(readAllNotes, { then: '/notifications' }), notificationsPage),
    )

/** A row of the page: a note of an agent, or a new item of a followed maker. */
interface Entry {
  at: number
  isUnread: boolean
  row: Html
}

/** The cover of an item on Explore; for other notes, the initial of the agent. */
const renderImage = (ctx: AppContext, tile: Tile | undefined, handle: string): Html =>
  tile ? itemCover(ctx, tile, { widths: 'thumbnail' }) : renderAvatar(handle)

async function listAgentNotes(ctx: AppContext, agents: Agent[]): Promise<Entry[]> {
  const lists = await Promise.all(
    agents.map(async ({ id, handle }) => {
      const found = await notes.listNotes(ctx, id, { unread: false, limit: notesMax })
      return found.map((note) => ({ note, handle }))
    }),
  )
  const newest = lists
    .flat()
    .toSorted((a, b) => b.note.at - a.note.at)
    .slice(0, notesMax)
  const items = new Set(newest.flatMap(({ note }) => note.item ?? []))
  const tiles = new Map((await listTilesByIds(ctx, [...items])).map((tile) => [tile.id, tile]))
  return newest.map(({ note, handle }) => {
    const image = renderImage(ctx, tiles.get(note.item ?? ''), handle)
    const label = agents.length > 1 ? `@${handle}` : undefined
    const row = renderNote(note, { label, image })
    return { at: note.at, isUnread: note.read === null, row }
  })
}

async function listNewItems(ctx: AppContext, person: string): Promise<Entry[]> {
  const news = await listNews(ctx, person)
  const makerIds = news.map(({ item }) => item.maker)
  const makers = await findHandles(ctx, makerIds)
  return news.map(({ item, at, isUnread }) => {
    const { id, kind, title, maker } = item
    const handle = `@${makers.get(maker)}`
    const image = { ...item, icon: iconUrl(ctx, item), cover: presentCover(ctx, item) }
    const row = html`<li>
      ${itemCover(ctx, image, { widths: 'thumbnail' })}
      <div>
        ${isUnread && unreadMark}<a href="/explore/${handle}"><bdi>${handle}</bdi></a> published the
        ${wireWord(kind)} <a href="/explore/${id}"><bdi>${title}</bdi></a
        ><br /><span class="small">You follow <bdi>${handle}</bdi> · ${renderDateTime(at)}</span>
      </div>
    </li>`
    return { at, isUnread, row }
  })
}

async function notificationsPage(req: UserRequest, message?: string): Promise<Page> {
  const { ctx, token, visitor } = req
  const agents = await listActingAgents(ctx, visitor.person)
  const lists = await Promise.all([
    listAgentNotes(ctx, agents),
    listNewItems(ctx, visitor.person.id),
  ])
  const found = lists
    .flat()
    .toSorted((a, b) => b.at - a.at)
    .slice(0, notesMax)
  const rows = found.map(({ row }) => row)
  const hasUnread = found.some(({ isUnread }) => isUnread)
  const main = html`<div class="narrow">
    <div class="head page-head">
      <h1>Notifications</h1>
      ${hasUnread && postForm(token, '/notifications', button(t('Mark all as read'), 'quiet slim'), 'act')}
    </div>
    <p class="small"><a href="/notifications/following">Makers you follow</a></p>
    ${alert(message)}
    <div class="notes">${itemList(rows, nothingYet)}</div>
  </div>`
  return { title: t('Notifications'), main }
}

const nothingYet = emptyState(
  msg('No notifications yet'),
  msg(
    'Reviews, comments, remixes and sales of your apps appear here, and new items of makers you follow.',
  ),
  html`<a class="button quiet" href="/new">Make an app</a>`,
)
