import type { Html } from '../../core/markup.ts'
import { tabNav } from '../lists.ts'

/** The pages of a wallet, by their paths. */
const walletLinks = [
  ['/wallet', 'Overview'],
  ['/wallet/history', 'Usage'],
  ['/wallet/ledger', 'Ledger'],
  ['/wallet/playground', 'Playground'],
] as const

/** The way between the pages of a wallet. */
export const walletTabs = (at: (typeof walletLinks)[number][0]): Html =>
  tabNav('Wallet', walletLinks, at)

/** How long something took: 12 ms, 1.4 s. */
export const formatDuration = (ms: number): string =>
  ms < 1_000 ? `${ms} ms` : `${(ms / 1_000).toFixed(1)} s`
