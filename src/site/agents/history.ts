import * as apps from '../../apps/apps.ts'
import { kinds } from '../../apps/kinds.ts'
import { getOwnedAgent } from '../../apps/owners/owned-agents.ts'
import type { AppContext } from '../../kernel/context.ts'
import { makeCursor, takePage } from '../../kernel/cursor.ts'
import { ApiError } from '../../kernel/errors.ts'
import { html, type Part } from '../../kernel/html.ts'
import { lookUp } from '../../kernel/schema.ts'
import { msg, t, type Text } from '../../kernel/words/message.ts'
import { agentOwner } from '../../money/ledger/accounts.ts'
import { listEntries } from '../../money/ledger/reports.ts'
import type { Agent } from '../../people/agents/agents.ts'
import { noteKinds } from '../../people/notifications/kinds.ts'
import * as notes from '../../people/notifications/notifications.ts'
import { formatCount } from '../format.ts'
import { button, selectField } from '../forms.ts'
import type { Layout, Page } from '../layout.ts'
import { createdCursor, cursorPager, itemList, ledgerTable, numberCursor } from '../lists.ts'
import { pageRoutes, redirectTo, userPage } from '../session.ts'
import { agentBreadcrumb, renderNote } from './agent.ts'
import { isAgentAction, ownAppFacts, ownAppRow } from './agents.ts'

const rowsShown = 50

interface HistoryPage {
  main: Part
  next: string | null
}

type ReadHistory = (ctx: AppContext, agent: Agent, query: URLSearchParams) => Promise<HistoryPage>

const appHistory: ReadHistory = async (ctx, { id }, query) => {
  const found = await apps.listByMaker(ctx, id, rowsShown + 1, createdCursor(query), kinds)
  const { page, next } = takePage(found, rowsShown, (app) => makeCursor(app.created, app.id))
  const items = page.map((app) => ownAppRow(ctx, app, ownAppFacts(ctx, app)))
  return { main: itemList(items, html`<p>No apps yet.</p>`), next }
}

const ledgerHistory: ReadHistory = async (ctx, agent, query) => {
  const before = numberCursor(query)
  const found = await listEntries(ctx, agentOwner(agent.id), { before, limit: rowsShown + 1 })
  const { page, next } = takePage(found, rowsShown, ({ number }) => makeCursor(number))
  return { main: ledgerTable(page), next }
}

const noteHistory: ReadHistory = async (ctx, { id }, query) => {
  const kind = noteKinds.find((name) => name === query.get('kind'))
  const unread = query.get('unread') === 'yes'
  const params = { unread, kind, before: numberCursor(query), limit: rowsShown + 1 }
  const [found, unreadCount] = await Promise.all([
    notes.listNotes(ctx, id, params),
    notes.countUnread(ctx, id),
  ])
  const { page, next } = takePage(found, rowsShown, ({ number }) => makeCursor(number))
  const kinds = [['', t('All kinds')], ...noteKinds.map((name) => [name, name] as const)] as const
  const filters = html`<form class="filters" action="">
      ${selectField({ label: t('Kind'), name: 'kind', value: kind ?? '', options: kinds })}<label
        class="tick"
        ><input type="checkbox" name="unread" value="yes" ${unread && html` checked`} />Unread
        only</label
      >${button(t('Apply'), 'quiet')}
    </form>
    <p class="small below">
      ${unreadCount === 0 ? t('The agent has read all notifications.') : `${formatCount(unreadCount, 'unread notification')}.`}
    </p>`
  const none =
    kind !== undefined || unread ? t('No matching notifications.') : t('No notifications yet.')
  return {
    main: html`${filters}${itemList(
      page.map((note) => renderNote(note, { label: note.kind })),
      html`<p>${none}</p>`,
    )}`,
    next,
  }
}

const lists: Record<string, { name: Text; read: ReadHistory }> = {
  apps: { name: msg('Apps'), read: appHistory },
  ledger: { name: msg('Transactions'), read: ledgerHistory },
  notes: { name: msg('Notifications'), read: noteHistory },
}

/** The full lists behind an agent's page. */
export const agentHistoryRoutes = (ctx: AppContext, layout: Layout) =>
  pageRoutes(ctx, layout).get('/agents/:handle/:list', ({ input, params: { handle, list } }) => {
    if (isAgentAction(list)) return redirectTo(`/agents/${encodeURIComponent(handle)}`)
    return userPage(input, async ({ visitor, query }): Promise<Page> => {
      const known = lookUp(lists, list)
      if (!known)
        throw new ApiError('not_found', { what: 'page', see: t('Open the agent’s page.') })
      const agent = await getOwnedAgent(ctx, visitor.person, handle)
      const { main, next } = await known.read(ctx, agent, query)
      const path = `/agents/${agent.handle}/${list}`
      const filters = Object.fromEntries([...query].filter(([name]) => name !== 'cursor'))
      return {
        title: `${known.name} · @${agent.handle}`,
        main: html`${agentBreadcrumb(agent)}
          <h1>${known.name}</h1>
          ${main} ${cursorPager(query, path, next, filters)}`,
      }
    })
  })
