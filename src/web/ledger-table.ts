import { type Html, html } from '../core/html.ts'
import type { Entry } from '../ledger/entries.ts'
import { formatColumn, renderDateTime } from './format.ts'
import { dataTable } from './lists.ts'

/** Ledger entries, newest first. */
export function ledgerTable(entries: Entry[]): Html {
  const amounts = formatColumn(
    entries.map(({ amount }) => amount),
    'exceptZero',
  )
  const balances = formatColumn(entries.map(({ balance }) => balance))
  return dataTable(
    'Transactions',
    ['Time', { capitalized: 'Type' }, 'Item', { number: 'Credits' }, { number: 'Balance' }],
    entries.map(({ at, kind, item }, row) => [
      renderDateTime(at),
      kind,
      item !== null && html`<code>${item}</code>`,
      amounts[row],
      balances[row],
    ]),
  )
}
