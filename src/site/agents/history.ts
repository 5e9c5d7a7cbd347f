import * as apps from '../../apps/apps.ts'
import { kinds } from '../../apps/kinds.ts'
import { presentItem } from '../../apps/present.ts'
import { makeCursor, takePage } from '../../kernel/cursor.ts'
import { type Html, html, type Part } from '../../kernel/html.ts'
import { msg, t, type Text } from '../../kernel/words/message.ts'
import { agentOwner } from '../../money/ledger/accounts.ts'
import { listEntries } from '../../money/ledger/reports.ts'
import type { NoteKind } from '../../people/notifications/kinds.ts'
import { noteKinds } from '../../people/notifications/kinds.ts'
import * as notes from '../../people/notifications/notifications.ts'
import { withQuery } from '../components.ts'
import {
  chip,
  createdCursor,
  cursorPager,
  emptyState,
  ledgerTable,
  numberCursor,
} from '../lists.ts'
import { noteRows, notificationDays } from '../notifications/rows.ts'
import { agentPath, type OwnAgent } from './agent.ts'
import { findItemLinks, ownAppFacts, ownAppTile } from './own-apps.ts'

const tilesShown = 24
const rowsShown = 50

/** All items of an agent, newest first. */
export async function appsTab({ req, agent }: OwnAgent): Promise<Part> {
  const { ctx, query } = req
  const after = createdCursor(query)
  const found = await apps.listByMaker(ctx, agent.id, tilesShown + 1, after, kinds)
  const { page, next } = takePage(found, tilesShown, (app) => makeCursor(app.created, app.id))
  if (page.length === 0) {
    return emptyState(
      t('No apps yet'),
      t('Apps, games, skills and frameworks of this agent appear here.'),
      html`<a class="button quiet" href="/new">Make an app</a>`,
    )
  }
  const tile = (app: apps.App): Html => {
    const { state, listed } = presentItem(ctx, app)
    const links = html`<p class="tile-links">
      ${state === 'live' && html`<a href="/a/${app.id}">Open</a>`}
      ${listed === 'on' && html`<a href="/explore/${app.id}">View on Explore</a>`}
    </p>`
    return ownAppTile(ctx, app, { href: `/studio/${app.id}`, facts: ownAppFacts(ctx, app), links })
  }
  return html`<h2 class="visually-hidden">Apps</h2>
    <ul class="tiles">
      ${page.map(tile)}
    </ul>
    ${cursorPager(query, agentPath(agent, 'apps'), next)}`
}

/** All transactions of an agent. */
export async function ledgerTab({ req, agent }: OwnAgent): Promise<Part> {
  const { ctx, query } = req
  const before = numberCursor(query)
  const found = await listEntries(ctx, agentOwner(agent.id), { before, limit: rowsShown + 1 })
  const { page, next } = takePage(found, rowsShown, ({ number }) => makeCursor(number))
  const none = html`<p>No transactions yet.</p>`
  return html`${ledgerTable(page, none, await findItemLinks(ctx, agent, page))}
  ${cursorPager(query, agentPath(agent, 'ledger'), next)}`
}

/** The subjects of notes, each with the starts of its kinds. */
const subjects: Record<string, { name: Text; starts: readonly string[] }> = {
  apps: { name: msg('Apps'), starts: ['build', 'app', 'item', 'report', 'appeal'] },
  remixes: { name: msg('Remixes'), starts: ['remix'] },
  reviews: { name: msg('Reviews and comments'), starts: ['review', 'comment'] },
  runs: { name: msg('Runs'), starts: ['run', 'share'] },
  credits: { name: msg('Credits'), starts: ['credits', 'topup'] },
  agent: { name: msg('Agent'), starts: ['claim', 'key', 'cap', 'system'] },
}

/** Returns the kinds of a subject; undefined where none is chosen. */
function kindsOf(subject: string | null): NoteKind[] | undefined {
  const found = Object.entries(subjects).find(([name]) => name === subject)
  if (!found) return undefined
  const [, { starts }] = found
  return noteKinds.filter((kind) => starts.includes(kind.split('.')[0] ?? ''))
}

/** The notes of an agent, by subject and read state. */
export async function notesTab({ req, agent }: OwnAgent): Promise<Part> {
  const { ctx, query } = req
  const [about, show] = [query.get('about') ?? '', query.get('show') ?? '']
  const unread = show === 'unread'
  const ofSubject = kindsOf(about)
  const filter = {
    unread,
    kinds: ofSubject,
    before: numberCursor(query),
    limit: rowsShown + 1,
  }
  const [found, unreadCount] = await Promise.all([
    notes.listNotes(ctx, agent.id, filter),
    notes.countUnread(ctx, agent.id),
  ])
  const { page, next } = takePage(found, rowsShown, ({ number }) => makeCursor(number))
  const named = page.map((note) => ({ note, handle: agent.handle }))
  const rows = await noteRows(ctx, named, { hasHandles: false })
  const path = agentPath(agent, 'notes')
  const none = ofSubject || unread ? t('No matching notifications.') : t('No notifications yet.')
  return html`<div class="note-filters">
      <nav aria-label="Subject">
        <ul class="chips">
          ${chip(withQuery(path, { show }), t('All subjects'), ofSubject === undefined)}
          ${Object.entries(subjects).map(([name, { name: title }]) => chip(withQuery(path, { about: name, show }), title, name === about))}
        </ul>
      </nav>
      <nav aria-label="Read state">
        <ul class="chips">
          ${chip(withQuery(path, { about }), t('All'), !unread)}
          ${chip(withQuery(path, { about, show: 'unread' }), t('Unread ({count})', { count: unreadCount }), unread)}
        </ul>
      </nav>
    </div>
    ${rows.length > 0 ? notificationDays(rows, ctx.clock.now()) : html`<p>${none}</p>`}
    ${cursorPager(query, path, next, { about, show })}`
}
