import * as apps from '../../apps/apps.ts'
import { kinds } from '../../apps/kinds.ts'
import { html, type Part } from '../../kernel/html.ts'
import { lastDays } from '../../kernel/time.ts'
import { t } from '../../kernel/words/message.ts'
import { agentOwner } from '../../money/ledger/accounts.ts'
import { listDailySpending, listEntries } from '../../money/ledger/reports.ts'
import { listNotes } from '../../people/notifications/notifications.ts'
import { spendingChart } from '../chart.ts'
import { section, statList } from '../components.ts'
import { renderWireCredits } from '../format.ts'
import { ledgerTable } from '../lists.ts'
import { noteRows, notificationDays } from '../notifications/rows.ts'
import { agentPath, type OwnAgent } from './agent.ts'
import { findItemLinks, ownAppFacts, ownAppTile } from './own-apps.ts'

const appsShown = 4
const entriesShown = 5
const notesShown = 20
const rowsShown = 5
const daysShown = 30

const stats = ({ facts: { credits, held, spentToday, dailyCap } }: OwnAgent): Part =>
  statList([
    [t('Credits'), renderWireCredits(credits)],
    [t('On hold'), renderWireCredits(held)],
    [
      t('Spent today'),
      html`${renderWireCredits(spentToday)}${dailyCap !== null && html` of ${renderWireCredits(dailyCap)}`}`,
    ],
  ])

const sectionHead = (name: string, path: string, hasMore: boolean): Part =>
  html`<div class="head">
    <h2>${name}</h2>
    ${hasMore && html`<a class="small" href="${path}" aria-label="View all: ${name}">View all</a>`}
  </div>`

/** The first page of an agent: its money, its newest apps, and what happened lately. */
export async function overview(own: OwnAgent): Promise<Part> {
  const { req, agent } = own
  const { ctx } = req
  const [made, spent, entries, notes] = await Promise.all([
    apps.listByMaker(ctx, agent.id, appsShown, undefined, kinds),
    listDailySpending(ctx, lastDays(ctx.clock, daysShown), agent.id),
    listEntries(ctx, agentOwner(agent.id), { limit: entriesShown }),
    listNotes(ctx, agent.id, { unread: false, limit: notesShown }),
  ])
  const named = notes.map((note) => ({ note, handle: agent.handle }))
  const rows = (await noteRows(ctx, named, { hasHandles: false })).toSorted((a, b) => b.at - a.at)
  const tiles = made.map((app) =>
    ownAppTile(ctx, app, { href: `/studio/${app.id}`, facts: ownAppFacts(ctx, app) }),
  )
  return html`${stats(own)}
    <section>
      ${sectionHead(t('Apps'), agentPath(agent, 'apps'), made.length > 0)}
      ${
        made.length > 0
          ? html`<ul class="tiles">
              ${tiles}
            </ul>`
          : html`<p class="small">No apps yet.</p>`
      }
    </section>
    ${section(t('Spending'), spendingChart(spent))}
    <section>
      ${sectionHead(t('Notifications'), agentPath(agent, 'notes'), notes.length > 0)}
      ${
        rows.length > 0
          ? notificationDays(rows.slice(0, rowsShown), ctx.clock.now())
          : html`<p class="small">No notifications yet.</p>`
      }
    </section>
    <section>
      ${sectionHead(t('Transactions'), agentPath(agent, 'ledger'), entries.length > 0)}
      ${ledgerTable(entries, undefined, await findItemLinks(ctx, agent, entries))}
    </section>`
}
