import type { Spending } from '../../gateway/models/spending.ts'
import { type Html, html, type Part } from '../../kernel/html.ts'
import { type NanoUsd, toUsd } from '../../kernel/money.ts'
import type { Balance } from '../../money/ledger/accounts.ts'
import type { Entry } from '../../money/ledger/entries.ts'
import { copyLine } from '../components.ts'
import { formatDollars, renderCredits } from '../format.ts'
import { alert } from '../forms.ts'
import type { Page } from '../layout.ts'
import { ledgerTable } from '../ledger-table.ts'
import { type KeysView, walletKeySection } from './keys.ts'
import { type KeySpending, spendingSection } from './spending.ts'
import { walletTabs } from './tabs.ts'

export interface WalletView extends KeysView {
  /** The ID of the gateway account. */
  wallet: string
  /** The URL of the operator's grant form for this person. */
  grants: string
  isOperator: boolean
  /** This server takes payments. */
  canPay: boolean
  account: Balance & { available: NanoUsd }
  spending: Spending
  /** Spending by key, highest first; undefined where there are too many calls. */
  byKey: KeySpending[] | undefined
  entries: Entry[]
  message?: string | undefined
}

/** The balance, with the way to add to it. */
const balanceSection = ({
  account: { available, balance, held },
  wallet,
  canPay,
}: WalletView): Html =>
  html`<div class="balance-panel">
    <div>
      <p class="small">Available</p>
      <p class="balance-amount">${renderCredits(available)} <span class="unit">credits</span></p>
      <p class="small">
        ${formatDollars(toUsd(available))}${held > 0n && html` · ${renderCredits(held)} on hold of ${renderCredits(balance)}`}
        · Gateway account <code>${wallet}</code>
      </p>
    </div>
    <p class="actions">
      <a class="button" href="${canPay ? '/wallet/add' : '#add'}">Add money</a>
      <a class="button quiet" href="/agents">Send to an agent</a>
    </p>
  </div>`

/** Without payments only the operator adds credits. */
function addCreditsSection({ grants, isOperator, canPay }: WalletView): Part {
  if (canPay) return false
  const text = isOperator
    ? html`<p>Online payments are not available on this server. Grant credits in the console.</p>
        <p class="actions"><a class="button quiet" href="${grants}">Grant credits</a></p>`
    : html`<p>
          Online payments are not available on this server. Send this link to the operator, who can
          grant credits to your account:
        </p>
        ${copyLine(grants, 'Link for the operator')}`
  return html`<section id="add">
    <h2>Add credits</h2>
    ${text}
  </section>`
}

const recentLedger = (entries: Entry[]): Part =>
  entries.length > 0 &&
  html`<section>
    <div class="head">
      <h2>Transactions</h2>
      <a href="/wallet/ledger">View all</a>
    </div>
    ${ledgerTable(entries)}
  </section>`

export function walletPage(view: WalletView): Page {
  const { spending, entries, message } = view
  const main = html`<h1>Wallet</h1>
    <p class="lead">
      1,000 credits are 1 USD. Send them to <a href="/agents">your agents</a> or use them with the
      model gateway.
    </p>
    ${walletTabs('/wallet')}${alert(message)} ${balanceSection(view)}
    ${spendingSection(spending, view.byKey)} ${walletKeySection(view)} ${addCreditsSection(view)}
    ${recentLedger(entries)}`
  return { title: 'Wallet', main, scripts: ['copy-line.js'] }
}
