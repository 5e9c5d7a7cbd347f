import type { Html } from '../../kernel/html.ts'
import { tabNav } from '../lists.ts'

const walletLinks = [
  ['/wallet', 'Overview'],
  ['/wallet/add', 'Add money'],
  ['/wallet/history', 'Usage'],
  ['/wallet/ledger', 'Transactions'],
  ['/wallet/playground', 'Playground'],
] as const

export const walletTabs = (at: (typeof walletLinks)[number][0]): Html =>
  tabNav('Wallet', walletLinks, at)
