import { type Html, html, type Part } from '../../core/markup.ts'
import { toCredits, toUsd } from '../../core/money.ts'
import type { Balance } from '../../ledger/accounts.ts'
import type { Entry } from '../../ledger/entries.ts'
import type { Spending } from '../../models/spending.ts'
import { ledgerTable } from '../agents/agents.ts'
import { copyLine, statList } from '../components.ts'
import { formatCredits, formatUsd } from '../format.ts'
import { alert } from '../forms.ts'
import type { Page } from '../layout.ts'
import { type KeysView, walletKeySection } from './keys.ts'
import { walletTabs } from './parts.ts'
import { spendingSection } from './spending.ts'

/** What the wallet's page is drawn from. */
export interface WalletView extends KeysView {
  /** The gateway account that it is. */
  wallet: string
  /** Who tells the operator whom to fund. */
  name: string
  account: Balance
  spending: Spending
  entries: Entry[]
  message?: string | undefined
}

const stats = ({ balance, held }: Balance, wallet: string): Html =>
  statList([
    [
      'Credits',
      html`${formatCredits(toCredits(balance))}
        <span class="unit">${formatUsd(toUsd(balance))}</span>`,
    ],
    ['Held for what runs', formatCredits(toCredits(held))],
    ['Gateway account', html`<code>${wallet}</code>`],
  ])

/** Coin payments have no provider here yet, so the operator is the only source of credits. */
const addCreditsSection = (name: string): Html =>
  html`<section id="add">
    <h2>Add credits</h2>
    <p>
      Top-ups are not open here. The operator of this place puts 5 USD, 5,000 credits, into this
      wallet with:
    </p>
    ${copyLine(`berth grant ${name} 5`, 'The operator’s command')}
  </section>`

const recentLedger = (entries: Entry[]): Part =>
  entries.length > 0 &&
  html`<section>
    <div class="head">
      <h2>Ledger</h2>
      <a href="/wallet/ledger">All of it</a>
    </div>
    ${ledgerTable(entries)}
  </section>`

/** A person's wallet: one gateway account. */
export function walletPage(view: WalletView): Page {
  const { wallet, name, account, spending, entries, message } = view
  const main = html`<h1>Wallet</h1>
    <p class="lead">
      1,000 credits are 1 USD. Send them to <a href="/agents">your agents</a>, or spend them at the
      gateway.
    </p>
    ${walletTabs('/wallet')}${alert(message)} ${stats(account, wallet)} ${spendingSection(spending)}
    ${walletKeySection(view)} ${addCreditsSection(name)} ${recentLedger(entries)}`
  return { title: 'Wallet', main, scripts: ['copy-line.js'] }
}
