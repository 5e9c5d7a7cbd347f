import { type Html, html } from '../../core/markup.ts'

/** The pages of a wallet, by their paths. */
const places = [
  ['/wallet', 'Overview'],
  ['/wallet/history', 'Usage'],
  ['/wallet/ledger', 'Ledger'],
  ['/wallet/playground', 'Playground'],
] as const

/** The way between the pages of a wallet. */
export const placesOf = (at: (typeof places)[number][0]): Html =>
  html`<nav class="tabs" aria-label="Wallet">
    <ul class="chips">
      ${places.map(([path, name]) => html`<li><a href="${path}" ${path === at && html` aria-current="page"`}>${name}</a></li>`)}
    </ul>
  </nav>`

/** How long something took: 12 ms, 1.4 s. */
export const lasted = (ms: number): string =>
  ms < 1_000 ? `${ms} ms` : `${(ms / 1_000).toFixed(1)} s`
