import type { AppContext } from '../../kernel/context.ts'
import { makeCursor } from '../../kernel/cursor.ts'
import { type Html, html, type Part } from '../../kernel/html.ts'
import { csvRowsMax } from '../../kernel/limits.ts'
import { utcDay } from '../../kernel/time.ts'
import { msg, t } from '../../kernel/words/message.ts'
import { type InvoiceWithPayments, listInvoices } from '../../money/payments/coins/invoices.ts'
import { coinOf, formatUnits } from '../../money/payments/coins/method.ts'
import { listUnmatched } from '../../money/payments/coins/payments.ts'
import { stateOf, type StoredPayment } from '../../money/payments/coins/status.ts'
import { readWatchers, type WatcherHealth } from '../../money/payments/coins/watchers.ts'
import type { ServerHealth } from '../../money/payments/server-pool.ts'
import { listNewest, type PaymentRow } from '../../money/payments/x402/rows.ts'
import type { PaymentHealth } from '../../money/payments/x402/x402.ts'
import { section, statList } from '../../site/components.ts'
import { form } from '../../site/form.ts'
import { formatNumber, renderDateTime, renderUsd } from '../../site/format.ts'
import { button, hiddenField, inputField, postForm } from '../../site/forms.ts'
import type { Page } from '../../site/layout.ts'
import { createdCursor, cursorPager, dataTable, tableSection } from '../../site/lists.ts'
import type { UserRequest } from '../../site/session.ts'
import { invoiceBadge, nameNetwork } from '../../site/wallet/invoice.ts'
import { creditPayment } from '../operator/operations.ts'
import { chainServers, type Collected } from '../operator/servers.ts'
import { type Income, incomeByDay } from '../operator/topups.ts'
import { accountLinks, badge, consolePage, settingLink, statusLine } from './components.ts'
import { nameSettings } from './setting-names.ts'

const agentPaymentsShown = 20

const healthRow = ({ name, problem }: PaymentHealth): Part[] => [
  name,
  badge(problem === undefined ? 'up' : 'down', problem === undefined ? 'good' : 'bad'),
  problem ?? '',
]

const agentPaymentState = ({ state, credited }: PaymentRow): string =>
  credited !== null && state === 'mined' ? 'credited' : state

const paymentRow = (payment: PaymentRow): Part[] => [
  renderDateTime(payment.created),
  html`<code>${payment.account}</code>`,
  renderUsd(payment.amount),
  agentPaymentState(payment),
  html`<code>${payment.hash ?? ''}</code>`,
]

/** Renders the servers and the newest payments of agents. */
export async function x402Section({ x402, db }: AppContext): Promise<Part> {
  if (!x402)
    return section(
      t('Agents'),
      html`<p class="small">
        Agents cannot pay by x402. Set this in the environment or berth.toml and restart Berth:
        ${settingLink('X402_PAY_TO')}.
      </p>`,
    )
  const [health, payments] = await Promise.all([
    x402.health(),
    listNewest(db.read, agentPaymentsShown),
  ])
  return section(
    t('Agents on {name}', { name: x402.network.name ?? x402.network.id }),
    html`${dataTable(t('Settlement'), [t('Server or setting'), t('State'), { long: t('Problem') }], health.map(healthRow))}
    ${dataTable(
      t('Newest payments'),
      [
        t('Time'),
        { long: t('Account') },
        { number: t('Amount') },
        t('State'),
        { long: t('Transaction') },
      ],
      payments.map(paymentRow),
      html`<p>No payments yet.</p>`,
    )}`,
  )
}

const place = '/console/payments'
const rowsShown = 50
const unmatchedShown = 50

const units = (amount: string, asset: string): string =>
  `${formatUnits(BigInt(amount), coinOf(asset)?.decimals ?? 0)} ${asset}`

const watcherRow = ({ network, ok, lastPollAt, problem }: WatcherHealth): Part[] => [
  html`${nameNetwork(network)} <code class="code-name">${network}</code>`,
  badge(ok ? 'up' : problem === null ? 'starting' : 'down', ok ? 'good' : 'bad'),
  lastPollAt === null ? t('never') : renderDateTime(lastPollAt),
  problem !== null && nameSettings(problem),
]

function unmatchedRow(token: string, payment: StoredPayment): Part[] {
  const fields = html`${hiddenField('payment', payment.id)}${inputField({
    label: t('Invoice ID'),
    name: 'invoice',
    value: payment.invoice ?? '',
    max: 12,
  })}${button(t('Credit by hand'), 'quiet slim')}`
  return [
    renderDateTime(payment.seen),
    units(payment.amount, payment.asset),
    payment.why,
    html`<code>${payment.tx}</code>`,
    postForm(token, place, fields),
  ]
}

function invoiceRow(
  { invoice, payments }: InvoiceWithPayments,
  names: Map<string, Html>,
  now: number,
): Part[] {
  const { status, exception, credited } = stateOf(invoice, payments, now)
  return [
    renderDateTime(invoice.created),
    html`<code>${invoice.id}</code>`,
    names.get(invoice.account) ?? html`<code>${invoice.account}</code>`,
    units(invoice.due, invoice.asset),
    html`${invoiceBadge({ status })} ${exception !== 'none' && exception.replace('_', ' ')}`,
    renderUsd(credited),
  ]
}

const watcherSection = (watchers: WatcherHealth[]): Part =>
  tableSection(
    t('Networks'),
    [t('Network'), { text: t('State'), onPhone: 'figure' }, t('Last poll'), { long: t('Problem') }],
    watchers.map(watcherRow),
    html`<p>
        No coin is on, so people see no “Add money”. To turn payments on, set one of these in the
        environment or berth.toml and restart Berth:
      </p>
      <ul>
        <li>${settingLink('TOPUP_EVM_XPUB')}</li>
        <li>${settingLink('TOPUP_BTC_XPUB')}</li>
        <li>${settingLink('TOPUP_SOL_RECIPIENT')}</li>
      </ul>
      <p class="small">
        <code>berth payments check</code> tests the settings. Until then
        <a href="/console/grants">grant credits</a> by hand.
      </p>`,
  )

const serverRow = (server: string | undefined, { name, problem }: ServerHealth): Part[] => [
  nameSettings(server === undefined ? name : `${server}: ${name}`),
  problem,
]

/** Renders the servers of chains that cannot be used, which others may hide by working. */
function serverSection({ reports }: Collected<ServerHealth[]>): Part {
  const rows = reports.flatMap(({ server, value }) =>
    value.map((one) => serverRow(reports.length > 1 ? server : undefined, one)),
  )
  return (
    rows.length > 0 &&
    tableSection(t('Unusable servers of the chains'), [t('Server'), { long: t('Problem') }], rows)
  )
}

const unmatchedSection = (token: string, payments: StoredPayment[]): Part =>
  payments.length > 0 &&
  tableSection(
    t('Unmatched payments'),
    [
      t('Seen'),
      { number: t('Amount') },
      { long: t('Reason') },
      { long: t('Transaction') },
      t('Credit'),
    ],
    payments.map((payment) => unmatchedRow(token, payment)),
  )

/** Says which networks take no payments now; nothing while all work. */
function networkStatus(watchers: WatcherHealth[]): Part {
  const failing = watchers.filter(({ ok, problem }) => !ok && problem !== null)
  const names = failing.map(({ network }) => t(nameNetwork(network))).join(', ')
  return (
    failing.length > 0 &&
    statusLine(
      t('No payments on {names}', { names }),
      t('Its servers do not answer. Payments are credited when they do.'),
      'bad',
    )
  )
}

/** Sums of what came in. */
function totals(income: Income[], unmatched: number, now: number): Html {
  const sum = (rows: Income[]): Html =>
    renderUsd(rows.reduce((total, { value }) => total + value, 0n))
  const count = income.reduce((total, one) => total + one.count, 0)
  return statList([
    [t('Paid in today'), sum(income.filter((one) => one.day === utcDay(now)))],
    [t('Paid in, 30 days'), sum(income)],
    [t('Payments, 30 days'), formatNumber(count)],
    [t('Unmatched payments'), formatNumber(unmatched)],
  ])
}

const incomeSection = (income: Income[]): Part =>
  section(
    t('Income of 30 days'),
    html`${dataTable(
        t('Income'),
        [
          t('Day'),
          t('Coin'),
          { number: t('Payments') },
          { number: t('Amount') },
          { number: t('Credited') },
        ],
        income.map((one) => [
          one.day,
          one.asset,
          one.count,
          `${formatUnits(one.units, one.decimals)} ${one.asset}`,
          renderUsd(one.value),
        ]),
        t('No payments yet.'),
      )}
      <p>
        <a href="${place}.csv" download>CSV of the newest ${formatNumber(csvRowsMax)} payments</a>
      </p>`,
  )

const invoiceColumns = [
  msg('Created'),
  msg('Invoice'),
  { long: msg('Account') },
  { number: msg('Due') },
  msg('Status'),
  { number: msg('Credited') },
]

/** Renders watchers, payments without an invoice, income and invoices. */
export async function paymentsPage(req: UserRequest, message?: string): Promise<Page> {
  const { ctx, token, query } = req
  const after = createdCursor(query)
  const [agents, watchers, servers, unmatched, income, rows] = await Promise.all([
    x402Section(ctx),
    readWatchers(ctx),
    chainServers.collect(ctx, null),
    listUnmatched(ctx, unmatchedShown),
    incomeByDay(ctx),
    listInvoices(ctx, { limit: rowsShown + 1, after }),
  ])
  const shown = rows.slice(0, rowsShown)
  const last = shown.at(-1)?.invoice
  const next = rows.length > rowsShown && last ? makeCursor(last.created, last.id) : null
  const now = ctx.clock.now()
  const accounts = shown.map(({ invoice }) => invoice.account)
  const names = await accountLinks(ctx, accounts)
  const invoices = shown.map((row) => invoiceRow(row, names, now))
  const table = dataTable(t('Invoices'), invoiceColumns, invoices, t('No invoices yet.'))
  const main = html`${networkStatus(watchers)} ${totals(income, unmatched.length, now)}
  ${unmatchedSection(token, unmatched)}
  ${section(t('Invoices'), html`${table} ${shown.length > 0 && cursorPager(query, place, next)}`)}
  ${incomeSection(income)} ${watcherSection(watchers)} ${serverSection(servers)} ${agents}`
  const lead = t('Every confirmed payment is credited for its own value.')
  return consolePage({ place, title: t('Payments'), lead, message, main })
}

/** Credits an unmatched payment to the invoice that it was for. */
export const creditForm = form(creditPayment, { then: place })
