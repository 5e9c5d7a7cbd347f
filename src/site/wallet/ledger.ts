import { makeCursor, takePage } from '../../kernel/cursor.ts'
import { html } from '../../kernel/html.ts'
import type { Owner } from '../../money/ledger/accounts.ts'
import { listEntries } from '../../money/ledger/entries.ts'
import type { AppContext } from '../../server/context.ts'
import type { Page } from '../layout.ts'
import { ledgerTable } from '../ledger-table.ts'
import { cursorPager, emptyState, numberCursor } from '../lists.ts'
import { walletTabs } from './tabs.ts'

const rowsShown = 50

/** Renders all transactions, newest first. Throws `bad_request` for a cursor of another list. */
export async function ledgerPage(
  ctx: AppContext,
  owner: Owner,
  query: URLSearchParams,
): Promise<Page> {
  const rows = await listEntries(ctx, owner, { before: numberCursor(query), limit: rowsShown + 1 })
  const { page, next } = takePage(rows, rowsShown, (entry) => makeCursor(entry.number))
  const none = emptyState(
    'No transactions yet',
    'Added credits, transfers to agents and gateway spending appear here.',
    html`<a class="button quiet" href="/wallet#add">Add credits</a>`,
  )
  const main = html`<h1>Transactions</h1>
    <p class="lead">Every change of this wallet, with the balance after it.</p>
    ${walletTabs('/wallet/ledger')} ${ledgerTable(page, none)}
    ${cursorPager(query, '/wallet/ledger', next)}`
  return { title: 'Transactions', main }
}
