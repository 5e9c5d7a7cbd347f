import type { AppContext } from '../../context.ts'
import { makeCursor, pageOf } from '../../core/cursor.ts'
import { html } from '../../core/markup.ts'
import type { Owner } from '../../ledger/accounts.ts'
import { listEntries } from '../../ledger/entries.ts'
import { ledgerTable } from '../agents/agents.ts'
import type { Page } from '../layout.ts'
import { cursorPager, emptyState, numberCursor } from '../lists.ts'
import { walletTabs } from './parts.ts'

const rowsShown = 50

/** Every line of a wallet's account, newest first. Refuses bad_request for a cursor not of ours. */
export async function ledgerPage(
  ctx: AppContext,
  owner: Owner,
  query: URLSearchParams,
): Promise<Page> {
  const rows = await listEntries(ctx, owner, { before: numberCursor(query), limit: rowsShown + 1 })
  const { page, next } = pageOf(rows, rowsShown, (entry) => makeCursor(entry.number))
  const none = emptyState(
    'Nothing moved yet',
    'What is added, sent to agents and spent at the gateway stands here, line by line.',
    html`<a class="button quiet" href="/wallet#add">Add credits</a>`,
  )
  const main = html`<h1>Ledger</h1>
    <p class="lead">Every line that changed this wallet, and what it left.</p>
    ${walletTabs('/wallet/ledger')} ${page.length > 0 ? ledgerTable(page) : none}
    ${cursorPager(query, '/wallet/ledger', next)}`
  return { title: 'Ledger', main }
}
