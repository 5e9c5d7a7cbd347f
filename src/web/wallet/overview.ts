import { type Html, html, type Part } from '../../core/markup.ts'
import { toCredits, toUsd } from '../../core/money.ts'
import type { Balance } from '../../ledger/accounts.ts'
import type { Entry } from '../../ledger/entries.ts'
import type { Spending } from '../../models/spending.ts'
import { inCredits, inUsd } from '../amounts.ts'
import type { Page } from '../layout.ts'
import { copyLine, numbers } from '../parts.ts'
import { entryTable } from '../people/agents.ts'
import { alert } from '../people/form.ts'
import { type KeysView, walletKeys } from './keys.ts'
import { placesOf } from './parts.ts'
import { spendingSection } from './spent.ts'

/** What the wallet's page is drawn from. */
export interface WalletView extends KeysView {
  /** The gateway account that it is. */
  wallet: string
  /** Who tells the operator whom to fund. */
  name: string
  account: Balance
  spending: Spending
  entries: Entry[]
  said?: string | undefined
}

const facts = ({ balance, held }: Balance, wallet: string): Html =>
  numbers([
    [
      'Credits',
      html`${inCredits(toCredits(balance))} <span class="unit">${inUsd(toUsd(balance))}</span>`,
    ],
    ['Held for what runs', inCredits(toCredits(held))],
    ['Gateway account', html`<code>${wallet}</code>`],
  ])

/** Coin payments have no provider here yet, so the operator is the only source of credits. */
const adding = (name: string): Html =>
  html`<section id="add">
    <h2>Add credits</h2>
    <p>
      Top-ups are not open here. The operator of this place puts 5 USD, 5,000 credits, into this
      wallet with:
    </p>
    ${copyLine(`berth grant ${name} 5`, 'The operator’s command')}
  </section>`

const ledgerOf = (entries: Entry[]): Part =>
  entries.length > 0 &&
  html`<section>
    <div class="head">
      <h2>Ledger</h2>
      <a href="/wallet/ledger">All of it</a>
    </div>
    ${entryTable(entries)}
  </section>`

/** A person's wallet: one gateway account. */
export function walletPage(view: WalletView): Page {
  const { wallet, name, account, spending, entries, said } = view
  const main = html`<h1>Wallet</h1>
    <p class="lead">
      1,000 credits are 1 USD. Send them to <a href="/agents">your agents</a>, or spend them at the
      gateway.
    </p>
    ${placesOf('/wallet')}${alert(said)} ${facts(account, wallet)} ${spendingSection(spending)}
    ${walletKeys(view)} ${adding(name)} ${ledgerOf(entries)}`
  return { title: 'Wallet', main, scripts: ['copy-line.js'] }
}
