import { html, type Part } from '../kernel/html.ts'
import type { Entry } from '../money/ledger/entries.ts'
import { renderCredits, renderDateTime } from './format.ts'
import { dataTable } from './lists.ts'

/** Ledger entries, newest first. */
export const ledgerTable = (entries: Entry[], none?: Part): Part =>
  dataTable(
    'Transactions',
    ['Time', { capitalized: 'Type' }, 'Item', { number: 'Credits' }, { number: 'Balance' }],
    entries.map(({ at, kind, item, amount, balance }) => [
      renderDateTime(at),
      kind,
      item !== null && html`<code>${item}</code>`,
      renderCredits(amount, 'exceptZero'),
      renderCredits(balance),
    ]),
    none,
  )
