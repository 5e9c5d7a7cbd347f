import { Elysia } from 'elysia'

import type { AppContext } from '../../context.ts'
import { makeCursor, pageOf } from '../../core/cursor.ts'
import { html, type Part } from '../../core/markup.ts'
import { ApiError } from '../../errors.ts'
import type { Agent } from '../../hosting/agents/agents.ts'
import * as apps from '../../hosting/apps/apps.ts'
import { presentApp } from '../../hosting/apps/present.ts'
import { noteKinds } from '../../hosting/notifications/kinds.ts'
import * as notes from '../../hosting/notifications/notifications.ts'
import { getOwnedAgent } from '../../hosting/people/owned-agents.ts'
import { agentOwner } from '../../ledger/accounts.ts'
import { listEntries } from '../../ledger/entries.ts'
import { formatCount, queryOf } from '../components.ts'
import { selectField } from '../forms.ts'
import type { Layout, Page } from '../layout.ts'
import { createdCursor, cursorPager, itemList, numberCursor } from '../lists.ts'
import { signedInPage } from '../session.ts'
import { agentBreadcrumb, ledgerTable } from './agents.ts'
import { renderNote } from './notes.ts'

const rowsShown = 50

/** A list of an agent: its rows, and where it goes on. */
interface HistoryPage {
  main: Part
  next: string | null
}

type RenderHistory = (ctx: AppContext, agent: Agent, query: URLSearchParams) => Promise<HistoryPage>

const states = { live: '', building: 'being built', taken_down: 'taken down', closed: 'deleted' }

async function appHistory(
  ctx: AppContext,
  { id }: Agent,
  query: URLSearchParams,
): Promise<HistoryPage> {
  const found = await apps.listByMaker(ctx, id, rowsShown + 1, createdCursor(query))
  const { page, next } = pageOf(found, rowsShown, (app) => makeCursor(app.created, app.id))
  const items = page.map((app) => {
    const { title, kind, state, listed, opens, version } = presentApp(ctx, app)
    const place = listed === 'on' && 'on Explore'
    const facts = [kind, states[state], `version ${version}`, formatCount(opens, 'open'), place]
    return html`<li>
      <a href="/studio/${app.id}"><bdi>${title}</bdi></a
      ><br /><span class="small">${facts.filter(Boolean).join(' · ')}</span>
    </li>`
  })
  return { main: itemList(items, html`<p>Nothing yet.</p>`), next }
}

async function ledgerHistory(
  ctx: AppContext,
  agent: Agent,
  query: URLSearchParams,
): Promise<HistoryPage> {
  const before = numberCursor(query)
  const found = await listEntries(ctx, agentOwner(agent.id), { before, limit: rowsShown + 1 })
  const { page, next } = pageOf(found, rowsShown, ({ number }) => makeCursor(number))
  return { main: ledgerTable(page), next }
}

async function noteHistory(
  ctx: AppContext,
  { id }: Agent,
  query: URLSearchParams,
): Promise<HistoryPage> {
  const kind = noteKinds.find((name) => name === query.get('kind'))
  const unread = query.get('unread') === 'yes'
  const wanted = { unread, kind, before: numberCursor(query), limit: rowsShown + 1 }
  const [found, waiting] = await Promise.all([
    notes.listNotes(ctx, id, wanted),
    notes.countUnread(ctx, id),
  ])
  const { page, next } = pageOf(found, rowsShown, ({ number }) => makeCursor(number))
  const kinds = [['', 'All kinds'], ...noteKinds.map((name) => [name, name] as const)] as const
  const filters = html`<form class="filters" action="">
      ${selectField({ label: 'Kind', name: 'kind', value: kind ?? '', options: kinds })}<label
        class="tick"
        ><input type="checkbox" name="unread" value="yes" ${unread && html` checked`} />Unread
        only</label
      ><button class="button quiet">Show</button>
    </form>
    <p class="small below">
      ${waiting === 0 ? 'The agent has read them all.' : `The agent has not read ${formatCount(waiting, 'note')}.`}
    </p>`
  const none = kind !== undefined || unread ? 'None of these.' : 'Nothing yet.'
  return { main: html`${filters}${itemList(page.map(renderNote), html`<p>${none}</p>`)}`, next }
}

const lists: Record<string, { name: string; draw: RenderHistory }> = {
  apps: { name: 'What it made', draw: appHistory },
  ledger: { name: 'Ledger', draw: ledgerHistory },
  notes: { name: 'What it was told', draw: noteHistory },
}

/** Everything that an agent made, paid and was told, page by page. */
export const agentHistoryRoutes = (ctx: AppContext, layout: Layout) =>
  new Elysia().get('/agents/:handle/:list', ({ request, params: { handle, list } }) =>
    signedInPage({ ctx, layout, request }, async ({ visitor }): Promise<Page> => {
      const found = Object.hasOwn(lists, list) ? lists[list] : undefined
      if (!found)
        throw new ApiError('not_found', { what: 'page', see: 'Its agent’s page links on.' })
      const agent = await getOwnedAgent(ctx, visitor.person, handle)
      const query = queryOf(request)
      const { main, next } = await found.draw(ctx, agent, query)
      const at = `/agents/${agent.handle}/${list}`
      const kept = Object.fromEntries([...query].filter(([name]) => name !== 'cursor'))
      return {
        title: `${found.name}: @${agent.handle}`,
        main: html`${agentBreadcrumb(agent)}
          <h1>${found.name}</h1>
          ${main} ${cursorPager(query, at, next, kept)}`,
      }
    }),
  )
