/**
 * The wallet: balance, spending, and the keys that spend from it, with the page of each key. A page
 * of the site is one file, so this is a long one.
 */
import {
  addWalletKey,
  changeWalletKey,
  revokeWalletKey,
} from '../../apps/owners/wallet-operations.ts'
import {
  getSpending,
  groupUsage,
  type ModelSpending,
  type Spending,
} from '../../gateway/models/spending.ts'
import type { Config } from '../../kernel/config/settings.ts'
import type { AppContext } from '../../kernel/context.ts'
import { isApiError } from '../../kernel/errors.ts'
import { type Html, html, type Part } from '../../kernel/html.ts'
import { keyNameCharsMax } from '../../kernel/limits.ts'
import { type NanoUsd, toCredits, toUsd, zero } from '../../kernel/money.ts'
import { lastDays } from '../../kernel/time.ts'
import { msg, t } from '../../kernel/words/message.ts'
import { counterOf, type Key } from '../../money/keys/keys.ts'
import { accountOf, type Balance } from '../../money/ledger/accounts.ts'
import * as ledger from '../../money/ledger/ledger.ts'
import {
  type Entry,
  findLatestSpending,
  type LatestSpending,
  listEntries,
  sumSpendingByPeriod,
} from '../../money/ledger/reports.ts'
import { openMethods } from '../../money/payments/coins/method.ts'
import * as ownKeys from '../../people/keys.ts'
import { walletOf } from '../../people/people.ts'
import { spendingChart } from '../chart.ts'
import { copyLine, section, statList, trail, withQuery } from '../components.ts'
import { form } from '../form.ts'
import {
  formatDollars,
  formatNumber,
  renderCredits,
  renderDate,
  renderDateTime,
  spendingBar,
} from '../format.ts'
import {
  alert,
  button,
  type Form,
  inputField,
  notice,
  postForm,
  readCredits,
  revokeDialog,
} from '../forms.ts'
import { type Balances, readBalances } from '../header.ts'
import { budgetStats, keyFields, keyPage, keyRefField, readKeyParams, refOf } from '../key-form.ts'
import type { Layout, Page } from '../layout.ts'
import { type Cell, chip, dataTable, ledgerTable, usual } from '../lists.ts'
import { pageRoutes, redirectTo, userForm, userPage, type UserRequest } from '../session.ts'
import { keyNames, walletTabs } from './history.ts'

const ranges = [7, 30, 90] as const

/** The selected range in days; undefined where none is. */
const daysIn = (query: URLSearchParams): number | undefined =>
  ranges.find((days) => String(days) === query.get('days'))

/** Returns the days of the shortest range that has all spending. */
function shortestRange(days: Spending['days']): Spending['days'] {
  const first = days.findIndex(({ amount }) => amount > 0n)
  const fitting = ranges.find((range) => first >= days.length - range)
  return fitting === undefined ? days : days.slice(-fitting)
}

const rangeChips = (shown: number): Html =>
  html`<nav aria-label="Days">
    <ul class="chips">
      ${ranges.map((days) => chip(`/wallet?days=${days}#spending`, t('{days} days', { days }), days === shown))}
    </ul>
  </nav>`

/** Spending of one key, or of the playground. */
interface KeySpending {
  label: string
  requests: number
  amount: NanoUsd
}

/** A share of the spending: a model, or a key. */
interface Share {
  label: Part
  requests: number
  amount: NanoUsd
}

function shareTable(heading: string, shares: Share[]): Html {
  const highest = Math.max(...shares.map(({ amount }) => toCredits(amount)))
  const row = ({ label, requests, amount }: Share): Html => {
    const width = amount > 0n ? Math.max(0.5, (toCredits(amount) / highest) * 100) : 0
    return html`<tr>
      <th scope="row">
        ${label}<svg
          class="share"
          viewBox="0 0 100 6"
          preserveAspectRatio="none"
          aria-hidden="true"
        >
          <rect width="${width.toFixed(2)}" height="6" />
        </svg>
      </th>
      <td class="number">${formatNumber(requests)}</td>
      <td class="number">${renderCredits(amount)}</td>
    </tr>`
  }
  return html`<table class="shares">
    <thead>
      <tr>
        <th scope="col">${heading}</th>
        <th scope="col" class="number">Requests</th>
        <th scope="col" class="number">Credits</th>
      </tr>
    </thead>
    <tbody>
      ${shares.map(row)}
    </tbody>
  </table>`
}

const modelShares = (models: ModelSpending[]): Share[] =>
  models.map(({ model, ...share }) => ({
    ...share,
    label: html`<a href="${withQuery('/wallet/history', { model })}">${model}</a>`,
  }))

const noSpending = html`<div class="empty">
  <h3>No usage in this period</h3>
  <p>Requests with an API key or from the playground appear here.</p>
  <a class="button quiet" href="/wallet/playground">Try the playground</a>
</div>`

function spendingSection({ days, models }: Spending, keys?: KeySpending[]): Html {
  const shares = keys?.map(({ label, ...share }) => ({
    ...share,
    label: html`<bdi>${label}</bdi>`,
  }))
  const charts = html`${spendingChart(days)}
    <div class="columns">
      <div>
        <h3>By model</h3>
        ${shareTable(t('Model'), modelShares(models))}
      </div>
      <div>
        <h3>By key</h3>
        ${shares ? shareTable(t('Key'), shares) : html`<p class="small">This period has too many requests to group them by key. Choose fewer days.</p>`}
      </div>
    </div>`
  return html`<section id="spending">
    <div class="head">
      <h2>Gateway spending</h2>
      <a href="/wallet/history">View usage</a>
    </div>
    ${rangeChips(days.length)} ${models.length > 0 ? charts : noSpending}
  </section>`
}

interface WalletView extends KeysView {
  /** The ID of the gateway account. */
  wallet: string
  /** The URL of the operator's grant form for this person. */
  grants: string
  isOperator: boolean
  config: Config
  /** This server takes payments. */
  canPay: boolean
  account: Balance & { available: NanoUsd }
  balances: Balances
  spending: Spending
  /** Spending by key, highest first; undefined where there are too many calls. */
  byKey: KeySpending[] | undefined
  entries: Entry[]
  message?: string | undefined
}

/** The number of the header, where it is, and the way to add to it. */
const balanceSection = ({ account, balances, wallet, canPay }: WalletView): Html =>
  html`<div class="balance-panel">
      <div>
        <p class="small">Available, in your wallet and your agents</p>
        <p class="balance-amount">
          ${renderCredits(balances.total)} <span class="unit">credits</span>
        </p>
        <p class="small">${formatDollars(toUsd(balances.total))}</p>
      </div>
      <p class="actions">
        ${canPay && html`<a class="button" href="/wallet/add">Add money</a>`}${
          balances.wallet > 0n && html`<a class="button quiet" href="/agents">Send to an agent</a>`
        }
      </p>
    </div>
    ${dataTable(
      t('Where your credits are'),
      [
        t('Place'),
        { long: t('Pays for'), onPhone: 'plain' },
        { number: t('Credits'), onPhone: 'figure' },
      ],
      [
        [
          html`Wallet <code class="small">${wallet}</code>`,
          html`Model gateway and
          playground${account.held > 0n && html`, ${renderCredits(account.held)} on hold of ${renderCredits(account.balance)}`}`,
          renderCredits(balances.wallet),
        ],
        ...balances.agents.map(({ agent, available }) => [
          html`<a href="/agents/${agent.handle}"><bdi>@${agent.handle}</bdi></a>`,
          t('Builds, assets and remixes'),
          renderCredits(available),
        ]),
      ],
    )}`

/** Without payments only the operator adds credits. */
function addCreditsSection({ grants, isOperator, canPay }: WalletView): Part {
  if (canPay) return false
  const text = isOperator
    ? html`<p>This server takes no payments. Turn them on, or grant credits by hand.</p>
        <p class="actions">
          <a class="button quiet" href="/console/payments">Turn on payments</a
          ><a class="button quiet" href="${grants}">Grant credits</a>
        </p>`
    : html`<p>
          This server takes no payments. Its operator can grant credits to your account. Send this
          link to the operator:
        </p>
        ${copyLine(grants, t('Link for the operator'))}`
  return section(t('More credits'), text)
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

function walletPage(view: WalletView): Page {
  const { spending, entries, message } = view
  const main = html`<h1>Wallet</h1>
    <p class="lead">
      1,000 credits are 1 USD. Send them to <a href="/agents">your agents</a> or use them with the
      model gateway.
    </p>
    ${walletTabs(view.config, '/wallet')}${alert(message)} ${balanceSection(view)}
    ${spendingSection(spending, view.byKey)} ${walletKeySection(view)} ${addCreditsSection(view)}
    ${recentLedger(entries)}`
  return { title: t('Wallet'), main, scripts: ['copy-line.js'] }
}

const entriesShown = 10
const chartModelsMax = 12
const ownerOf = ({ visitor }: UserRequest) => walletOf(visitor.person)

async function getWalletPage(req: UserRequest, message?: string, submitted?: Form): Promise<Page> {
  const { ctx, token, query, visitor } = req
  const { wallet, name, operator: isOperator } = visitor.person
  const owner = ownerOf(req)
  const keys = await ownKeys.list(ctx, visitor.person, 'gateway')
  const chosen = daysIn(query)
  const drawn = { days: chosen ?? 30, models: chartModelsMax }
  const [account, balances, last, spent, entries, byKey] = await Promise.all([
    ledger.balanceOf(ctx, owner),
    readBalances(ctx, visitor.person),
    findLatestSpending(ctx, keys.map(counterOf)),
    getSpending(ctx, accountOf(owner), drawn),
    listEntries(ctx, owner, { limit: entriesShown }),
    listKeySpending(ctx, wallet, drawn.days),
  ])
  const spending = chosen === undefined ? { ...spent, days: shortestRange(spent.days) } : spent
  const { gateway } = ctx.urls
  const cap = ctx.config.dailyCapCredits
  const form = { token, message, submitted, done: query.get('done') }
  const grants = `${ctx.urls.app}${withQuery('/console/grants', { to: name })}`
  const canPay = openMethods(ctx.config).length > 0
  const user = { wallet, grants, isOperator, canPay, balances, config: ctx.config }
  return walletPage({
    ...form,
    ...user,
    gateway,
    account,
    keys,
    last,
    cap,
    spending,
    byKey,
    entries,
  })
}

export const walletRoutes = (ctx: AppContext, layout: Layout) =>
  pageRoutes(ctx, layout)
    .get('/wallet', ({ input }) => userPage(input, getWalletPage))
    .get('/wallet/keys', () => redirectTo('/wallet#keys'))
    .post('/wallet/keys', ({ input }) => userForm(input, changeKeys, getWalletPage))
    .get(`${keysPath}/:key`, ({ input, params }) =>
      userPage(input, (req) => getKeyPage(req, params.key)),
    )
    .post(`${keysPath}/:key`, ({ input, params }) =>
      userForm(input, changeKey(params.key), (req, message, sent) =>
        getKeyPage(req, params.key, message, sent),
      ),
    )

const keysShownMax = 12

/** Returns a wallet's spending by key, highest first; undefined for too many calls. */
async function listKeySpending(
  ctx: AppContext,
  wallet: string,
  days: number,
): Promise<KeySpending[] | undefined> {
  const account = accountOf({ kind: 'gateway', owner: wallet })
  const from = Date.parse(lastDays(ctx.clock, days)[0] ?? '')
  try {
    const [groups, names] = await Promise.all([
      groupUsage(ctx.db.read, { account, from, to: ctx.clock.now() }, ['key']),
      keyNames(ctx, wallet),
    ])
    return groups.slice(0, keysShownMax).map(({ key, requests, charged }) => ({
      label: key ? (names.get(key) ?? `${key}…`) : t('Playground'),
      requests,
      amount: charged,
    }))
  } catch (error) {
    if (isApiError(error, 'bad_request')) return undefined
    throw error
  }
}

const keysPath = '/wallet/keys'

interface KeysView {
  token: string
  /** The gateway's URL. */
  gateway: string
  keys: Key[]
  last: Map<string, LatestSpending>
  /** The default daily cap of a new key in credits; null is no limit. */
  cap: number | null
  /** The form that failed, with the typed values. */
  submitted?: Form | undefined
  /** The form that was submitted successfully. */
  done?: string | null | undefined
}

function keyRow({ token, last }: KeysView, key: Key): Cell[] {
  const { prefix, name, models, dailyCap, expires } = key
  const used = last.get(counterOf(key))
  return [
    html`<a class="model-name" href="${keysPath}/${prefix}"
        >${name === null ? t('Unnamed key') : html`<bdi>${name}</bdi>`}</a
      ><code>${prefix}…</code>`,
    models === null ? usual(t('All models')) : models.join(', '),
    spendingBar(used?.today ?? zero, dailyCap),
    used ? renderDate(used.day) : usual(t('Never')),
    expires === null ? usual(t('Never')) : renderDate(expires),
    html`<a class="button quiet slim" href="${keysPath}/${prefix}">Edit</a>
      ${postForm(token, keysPath, revokeDialog(prefix), 'act')}`,
  ]
}

const columns = [
  { long: msg('Name') },
  { long: msg('Models') },
  msg('Spent today'),
  msg('Last used'),
  msg('Expires'),
  { unseen: msg('Actions') },
]

function walletKeySection(view: KeysView): Html {
  const { token, gateway, keys, cap, submitted, done } = view
  const typed = submitted?.has('name') ? submitted : undefined
  const doneMessage = new Map([
    ['key', t('API key updated.')],
    ['revoke', t('API key revoked.')],
  ]).get(done ?? '')
  const rows = keys.map((key) => keyRow(view, key))
  const createForm = html`${keyRefField()}${inputField({ label: t('Key name'), name: 'name', max: keyNameCharsMax, isOptional: true, value: typed?.text('name') })}${inputField({ label: t('Daily cap in credits (optional)'), name: 'dailyCap', type: 'number', isOptional: true, value: typed?.text('dailyCap') ?? cap ?? undefined })}${button(t('Create API key'), 'quiet')}`
  return html`<section id="keys">
    <h2>Gateway API keys</h2>
    ${notice(doneMessage)}
    <p class="small">
      Use these keys with any OpenAI client. Requests are paid from this wallet. Edit a key to set
      its models, budgets, rates and expiry.
    </p>
    ${copyLine(`OPENAI_BASE_URL=${gateway}/v1`, t('Base URL for OpenAI clients'))}
    ${
      keys.length > 0 &&
      html`<div class="models keys">${dataTable(t('API keys'), columns, rows)}</div>`
    }
    ${postForm(token, keysPath, createForm, 'form three-fields')}
  </section>`
}

const revokeKey = form(revokeWalletKey, {
  params: (sent) => ({ prefix: sent.text('revoke') }),
  then: '/wallet?done=revoke#keys',
})

const createKey = form(addWalletKey, {
  fields(sent) {
    const name = sent.text('name').trim()
    return { ...(name && { name }), dailyCap: readCredits(sent, 'dailyCap') ?? null }
  },
  ref: refOf,
  then: ({ key }) =>
    keyPage(key, {
      purpose: t('Anyone with this key can spend from your wallet.'),
      back: '/wallet#keys',
    }),
})

/** Creates or revokes a key. */
const changeKeys = (req: UserRequest, sent: Form): Promise<Response> =>
  (sent.text('revoke') ? revokeKey : createKey)(req, sent)

/** Renders the spending and the settings of a gateway key. Throws `not_found`. */
async function getKeyPage(
  req: UserRequest,
  prefix: string,
  message?: string,
  typed?: Form,
): Promise<Page> {
  const { ctx, token, visitor } = req
  const key = await ownKeys.getGatewayKey(ctx, visitor.person, prefix)
  const counter = counterOf(key)
  const spent = (await sumSpendingByPeriod(ctx, [counter]))(counter)
  const action = `${keysPath}/${prefix}`
  const fields = html`${keyFields(key, { typed })}
    <p class="actions">
      ${button(t('Save'))}<a class="button quiet" href="/wallet#keys">Cancel</a>
    </p>`
  const main = html`${trail(['/wallet', t('Wallet')])}
    <h1>${key.name === null ? t('Unnamed key') : html`<bdi>${key.name}</bdi>`}</h1>
    <p class="lead"><code>${prefix}…</code>, created ${renderDateTime(key.created)}</p>
    ${walletTabs(ctx.config, '/wallet')}${alert(message)} ${statList(budgetStats(key, spent))}
    ${postForm(token, action, fields, 'form key-form')}
    <section>
      <h2>Revoke</h2>
      <p>Requests with this key fail at once.</p>
      ${postForm(token, keysPath, revokeDialog(prefix), 'act')}
    </section>`
  return { title: t('API key'), main }
}

/** Returns the form that saves the settings of a key. */
const changeKey = (prefix: string) =>
  form(changeWalletKey, {
    params: { prefix },
    fields(sent, { ctx }) {
      const name = sent.text('name').trim()
      return { ...readKeyParams(sent, ctx.clock.now()), ...(name !== '' && { name }) }
    },
    then: '/wallet?done=key#keys',
  })
