import type { Html } from '../../core/markup.ts'
import { tabsOf } from '../lists.ts'

/** The pages of a wallet, by their paths. */
const places = [
  ['/wallet', 'Overview'],
  ['/wallet/history', 'Usage'],
  ['/wallet/ledger', 'Ledger'],
  ['/wallet/playground', 'Playground'],
] as const

/** The way between the pages of a wallet. */
export const placesOf = (at: (typeof places)[number][0]): Html => tabsOf('Wallet', places, at)

/** How long something took: 12 ms, 1.4 s. */
export const lasted = (ms: number): string =>
  ms < 1_000 ? `${ms} ms` : `${(ms / 1_000).toFixed(1)} s`
