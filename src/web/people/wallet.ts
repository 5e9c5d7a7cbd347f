import { type Html, html } from '../../core/markup.ts'
import { toCredits } from '../../core/money.ts'
import type { Key } from '../../keys/keys.ts'
import type { Balance } from '../../ledger/accounts.ts'
import type { Entry } from '../../ledger/entries.ts'
import type { Spent } from '../../ledger/spending.ts'
import type { Page } from '../layout.ts'
import { copyLine } from '../parts.ts'
import { keyForm, keyTable } from './account.ts'
import { entryTable } from './agents.ts'
import { chart, inCredits } from './chart.ts'
import { alert } from './form.ts'

/** What the wallet's page is drawn from. */
export interface WalletView {
  token: string
  /** The gateway account that it is, and the gateway's address. */
  wallet: string
  gateway: string
  /** Who tells the operator whom to fund. */
  name: string
  account: Balance
  spent: Spent[]
  entries: Entry[]
  keys: Key[]
  said?: string | undefined
}

const numbers = ({ balance, held }: Balance, wallet: string): Html =>
  html`<dl class="numbers">
    <div>
      <dt>Credits</dt>
      <dd>${inCredits(toCredits(balance))}</dd>
    </div>
    <div>
      <dt>Held for what runs</dt>
      <dd>${inCredits(toCredits(held))}</dd>
    </div>
    <div>
      <dt>Gateway account</dt>
      <dd><code>${wallet}</code></dd>
    </div>
  </dl>`

/** A person's wallet: one gateway account. */
export function walletPage(view: WalletView): Page {
  const { token, wallet, gateway, name, account, spent, entries, keys, said } = view
  const nothing = html`<div class="empty">
    <h2>Nothing moved yet</h2>
    <p>The operator of this place adds to a wallet with:</p>
    <pre><code>berth grant ${name} 5</code></pre>
  </div>`
  const main = html`<h1>Wallet</h1>
    <p class="lead">
      1,000 credits are 1 USD. Send them to <a href="/agents">your agents</a>, or spend them at the
      gateway.
    </p>
    ${alert(said)} ${numbers(account, wallet)}
    <section>
      <h2>Gateway keys</h2>
      <p class="small">Any OpenAI client can spend from this wallet with one of these.</p>
      ${copyLine(`OPENAI_BASE_URL=${gateway}/v1`, 'The address for OpenAI clients')}
      ${keyTable(token, '/wallet/keys', keys)}${keyForm(token, '/wallet/keys')}
    </section>
    <section>
      <h2>Spending at the gateway</h2>
      ${chart(spent)}
    </section>
    <section>
      <h2>Ledger</h2>
      ${entries.length > 0 ? entryTable(entries) : nothing}
    </section>`
  return { title: 'Wallet', main, scripts: ['copy-line.js'] }
}
