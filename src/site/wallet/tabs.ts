import type { Config } from '../../kernel/config/settings.ts'
import type { Html } from '../../kernel/html.ts'
import { msg, t } from '../../kernel/words/message.ts'
import { openMethods } from '../../money/payments/coins/method.ts'
import { tabNav } from '../lists.ts'

const addMoney = ['/wallet/add', msg('Add money')] as const
const walletLinks = [
  ['/wallet', msg('Overview')],
  addMoney,
  ['/wallet/history', msg('Usage')],
  ['/wallet/ledger', msg('Transactions')],
  ['/wallet/playground', msg('Playground')],
] as const

/** The pages of the wallet. Adding money is one of them only where this server takes payments. */
export function walletTabs(config: Config, at: (typeof walletLinks)[number][0]): Html {
  const canPay = openMethods(config).length > 0
  const shown = walletLinks.filter((link) => canPay || link !== addMoney)
  return tabNav(t('Wallet'), shown, at)
}
