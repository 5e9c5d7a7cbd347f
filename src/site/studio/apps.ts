import { listByMaker } from '../../apps/apps.ts'
import { kinds } from '../../apps/kinds.ts'
import { makeCursor, takePage } from '../../kernel/cursor.ts'
import { html } from '../../kernel/html.ts'
import { listAllOwnedAgents } from '../../people/agents/listing.ts'
import { ownAppFacts, ownAppTile } from '../agents/own-app-row.ts'
import type { Page } from '../layout.ts'
import { createdCursor, cursorPager, emptyState } from '../lists.ts'
import type { UserRequest } from '../session.ts'
import { tilesPerPage } from '../tiles.ts'
import { tabPath } from './studio.ts'

/** Renders everything that the agents of a person made, newest first. */
export async function studioListPage({ ctx, visitor, query }: UserRequest): Promise<Page> {
  const agents = await listAllOwnedAgents(ctx.db.read, visitor.person.id)
  const handles = new Map(agents.map(({ id, handle }) => [id, `@${handle}`]))
  const after = createdCursor(query)
  const found = await listByMaker(ctx, [...handles.keys()], tilesPerPage + 1, after, kinds)
  const { page, next } = takePage(found, tilesPerPage, (app) => makeCursor(app.created, app.id))
  const tiles = page.map((app) => {
    const maker = agents.length > 1 ? [handles.get(app.maker) ?? ''] : []
    const facts = [...maker, ...ownAppFacts(ctx, app)]
    return ownAppTile(ctx, app, { href: tabPath(app.id, ''), facts })
  })
  const main = html`<div class="head title">
      <h1>Studio</h1>
      <a class="button" href="/new">New app</a>
    </div>
    ${
      tiles.length > 0
        ? html`<h2 class="visually-hidden">Your apps</h2>
            <ul class="tiles">
              ${tiles}
            </ul>`
        : nothingYet
    }
    ${cursorPager(query, '/studio', next)}`
  return { title: 'Studio', section: '/studio', isWide: true, main }
}

const nothingYet = emptyState(
  'You have not made anything yet',
  'Describe an app or bring an HTML file. You change, list and measure it here.',
  html`<a class="button" href="/new">Make your first app</a>`,
)
