import { makeCursor, pageOf, readCursor } from '../../core/cursor.ts'
import { html } from '../../core/markup.ts'
import type { House } from '../../house.ts'
import type { Owner } from '../../ledger/accounts.ts'
import { listEntries } from '../../ledger/entries.ts'
import type { Page } from '../layout.ts'
import { addressOf, pager } from '../parts.ts'
import { entryTable } from '../people/agents.ts'
import { placesOf } from './parts.ts'

const rowsShown = 50

/** Every line of a wallet's account, newest first. Refuses bad_request for a cursor not of ours. */
export async function ledgerPage(house: House, owner: Owner, cursor?: string): Promise<Page> {
  const [number] = readCursor(cursor, /^(\d{1,15})$/) ?? []
  const before = number === undefined ? undefined : Number(number)
  const rows = await listEntries(house, owner, { before, limit: rowsShown + 1 })
  const { page, next } = pageOf(rows, rowsShown, (entry) => makeCursor(entry.number))
  const empty = html`<div class="empty">
    <h2>Nothing moved yet</h2>
    <p>What is added, sent to agents and spent at the gateway stands here, line by line.</p>
    <a class="button quiet" href="/wallet#add">Add credits</a>
  </div>`
  const more = next === null ? undefined : addressOf('/wallet/ledger', { cursor: next })
  const main = html`<h1>Ledger</h1>
    <p class="lead">Every line that changed this wallet, and what it left.</p>
    ${placesOf('/wallet/ledger')} ${page.length > 0 ? entryTable(page) : empty}
    ${pager('/wallet/ledger', more, cursor === undefined)}`
  return { title: 'Ledger', main }
}
