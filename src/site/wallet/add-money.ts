import { addMoney } from '../../apps/owners/wallet-operations.ts'
import {
  getInvoiceStatus,
  type InvoiceStatusBody,
} from '../../gateway/accounts/topup-operations.ts'
import type { Config } from '../../kernel/config/settings.ts'
import type { AppContext } from '../../kernel/context.ts'
import { ApiError, rejectRequest } from '../../kernel/errors.ts'
import { Html, html, type Part } from '../../kernel/html.ts'
import { type NanoUsd, toUsd } from '../../kernel/money.ts'
import { lookUp } from '../../kernel/schema.ts'
import { minute } from '../../kernel/time.ts'
import { msg, t, type Text } from '../../kernel/words/message.ts'
import { accountOf } from '../../money/ledger/accounts.ts'
import * as ledger from '../../money/ledger/ledger.ts'
import { listInvoices } from '../../money/payments/coins/invoices.ts'
import {
  coins,
  type Method,
  methods,
  networkOf,
  openMethods,
  requiredConfirmations,
} from '../../money/payments/coins/method.ts'
import { walletOf } from '../../people/people.ts'
import { copyLine, section, statList, withQuery } from '../components.ts'
import { form } from '../form.ts'
import {
  formatCount,
  formatUsd,
  renderCredits,
  renderDateTime,
  renderWireCredits,
} from '../format.ts'
import { alert, button, choiceField, type Form, inputField, postForm } from '../forms.ts'
import type { Layout, Page } from '../layout.ts'
import { chip, dataTable, emptyState, tableSection } from '../lists.ts'
import { pageRoutes, userForm, userPage, type UserRequest } from '../session.ts'
import { walletTabs } from './history.ts'

const addMoneyPath = '/wallet/add'

/** A coin that this server takes. */
export interface OpenMethod {
  method: Method
  network: string
  confirmations: number
}

interface AddMoneyView {
  token: string
  methods: OpenMethod[]
  min: NanoUsd
  max: NanoUsd
  /** The money that the wallet can spend. */
  available: NanoUsd
  invoices: InvoiceStatusBody[]
  amount: string
  method: string
  config: Config
  isOperator: boolean
  message?: string | undefined
}

const usd = (amount: NanoUsd): string => formatUsd(toUsd(amount)).replace(/\.00$/, '')

/** Amounts in USD that one press fills in. */
const presets = ['10', '20', '50', '100']

/** Links, which need no script. They are above the coins, since they reset the form. */
const presetChips = ({ min, max, amount }: AddMoneyView): Html =>
  html`<ul class="chips" aria-label="Amounts">
    ${presets
      .filter((one) => Number(one) >= toUsd(min) && Number(one) <= toUsd(max))
      .map((one) => chip(withQuery(addMoneyPath, { amount: one }), `$${one}`, one === amount))}
  </ul>`

const coinChoice = ({ method, network, confirmations }: OpenMethod) => {
  const { name, asset, lockMs } = coins[method]
  return {
    value: method,
    label: html`<strong>${name}</strong> ${asset}`,
    hint: t('{nameNetwork} · {confirmations} · rate fixed for {lockMs} minutes', {
      nameNetwork: nameNetwork(network),
      confirmations: formatCount(confirmations, 'confirmation'),
      lockMs: lockMs / minute,
    }),
  }
}

const coinForm = (view: AddMoneyView): Html =>
  postForm(
    view.token,
    addMoneyPath,
    html`${inputField({
      label: t('Amount in USD'),
      name: 'amount',
      value: view.amount,
      max: 20,
      hint: t('{usd} to {usd2}. 1 USD is 1,000 credits.', {
        usd: usd(view.min),
        usd2: usd(view.max),
      }),
    })}${presetChips(view)}${choiceField({
      label: t('Pay with'),
      name: 'method',
      value: view.method,
      options: view.methods.map(coinChoice),
    })}${button(t('Continue'))}`,
  )

const howItWorks = ({ available }: AddMoneyView): Html =>
  html`<aside class="summary" aria-label="How it works">
    <p class="small">In your wallet</p>
    <p class="balance-amount">${renderCredits(available)} <span class="unit">credits</span></p>
    <ol>
      <li>Choose an amount and a coin.</li>
      <li>Send it to an address that is only for this payment, by QR code or by hand.</li>
      <li>Credits arrive when the network has confirmed the payment. You can close the page.</li>
    </ol>
    <p class="small">If you send more or less, you get credits for what arrived.</p>
  </aside>`

/** The words for the states of an invoice. */
const labels: Record<InvoiceStatusBody['status'], Text> = {
  New: msg('Waiting for payment'),
  Processing: msg('Payment seen, waiting for confirmations'),
  Settled: msg('Credited'),
  Expired: msg('Expired'),
  Invalid: msg('Payment lost'),
}
const styles: Partial<Record<InvoiceStatusBody['status'], string>> = {
  New: ' warn',
  Processing: ' warn',
  Expired: ' block',
  Invalid: ' block',
}

export const invoiceBadge = ({ status }: Pick<InvoiceStatusBody, 'status'>): Html =>
  html`<span class="badge${styles[status]}">${labels[status]}</span>`

const historyTable = (invoices: InvoiceStatusBody[]): Part =>
  dataTable(
    t('Top-ups'),
    [
      t('Created'),
      t('Coin'),
      { number: t('Amount') },
      t('Status'),
      { number: t('Credited') },
      { unseen: t('Open') },
    ],
    invoices.map((invoice) => [
      renderDateTime(invoice.created_at),
      invoice.asset,
      formatUsd(invoice.amount),
      invoiceBadge(invoice),
      formatUsd(invoice.credited),
      html`<a href="${addMoneyPath}/${invoice.invoice_id}">Open</a>`,
    ]),
  )

/** Renders the page that adds money: the coin and the amount, and the history. */
function addMoneyPage(view: AddMoneyView): Page {
  const { methods, invoices, message, isOperator } = view
  const main = html`<h1>Add money</h1>
    <p class="lead">Pay with a coin; what arrives becomes credits in your wallet.</p>
    ${walletTabs(view.config, addMoneyPath)}${alert(message)}
    ${
      methods.length > 0
        ? html`<div class="topup">${coinForm(view)} ${howItWorks(view)}</div>`
        : emptyState(
            t('Payments are off'),
            isOperator
              ? t('This server takes no payments yet.')
              : t('This server takes no payments. Its operator can grant credits to your account.'),
            isOperator
              ? html`<a class="button" href="/console/payments">Turn on payments</a>`
              : html`<a class="button quiet" href="/wallet">Back to the wallet</a>`,
          )
    }
    ${invoices.length > 0 && section(t('History'), historyTable(invoices))}`
  return { title: t('Add money'), main }
}

/** The notes on what did not go as planned. */
const notes: Record<InvoiceStatusBody['exception'], Part> = {
  none: false,
  paid_partial: msg(
    'Less than the amount arrived. It is credited; send the rest to the same address.',
  ),
  paid_over: msg('More than the amount arrived. All of it is credited.'),
  paid_late: msg('A payment arrived after the end. It is credited at the rate of its arrival.'),
  marked: msg('The operator credited this payment.'),
}

const paymentTable = ({ payments, asset }: InvoiceStatusBody): Part =>
  payments.length > 0 &&
  tableSection(
    t('Payments'),
    [
      { long: t('Transaction') },
      { number: t('Amount') },
      t('Confirmations'),
      { number: t('Credited') },
    ],
    payments.map((payment) => [
      html`<code>${payment.tx}</code>`,
      `${payment.amount} ${asset}`,
      t('{min} of {required_confirmations}', {
        min: Math.min(payment.confirmations, payment.required_confirmations),
        required_confirmations: payment.required_confirmations,
      }),
      payment.credited_usd > 0 ? formatUsd(payment.credited_usd) : t('not yet'),
    ]),
  )

const networkNames: Record<string, Text> = {
  'eip155:1': 'Ethereum',
  'eip155:11155111': msg('Sepolia (test money)'),
  'bitcoin:mainnet': 'Bitcoin',
  'solana:mainnet-beta': 'Solana',
}
const nameNetwork = (network: string): Text => lookUp(networkNames, network) ?? network

/** Amount, address and code, while the invoice can be paid. */
const payment = (invoice: InvoiceStatusBody, qr: Html): Part =>
  (invoice.status === 'New' || invoice.status === 'Expired') &&
  html`<div class="invoice">
    <a class="qr" href="${invoice.payment_request}" aria-label="Open in a wallet">${qr}</a>
    <div>
      <h2>Send ${invoice.amount_due} ${invoice.asset}</h2>
      <p>
        Network: <strong>${nameNetwork(invoice.network)}</strong>. Send only ${invoice.asset} on
        this network.
      </p>
      <p class="small">Amount in ${invoice.asset}</p>
      ${copyLine(invoice.amount_due, t('Amount in {asset}', { asset: invoice.asset }))}
      <p class="small">Address</p>
      ${copyLine(invoice.address, t('Address'))}
      <p class="small">Payment link</p>
      ${copyLine(invoice.payment_request, t('Payment link'))}
    </div>
  </div>`

/** Renders an invoice. It refreshes itself with scripts, and shows the newest state on reload. */
function invoicePage(config: Config, invoice: InvoiceStatusBody, qr: Html): Page {
  const { asset, rate, status, exception, watcher, expires_at: expires } = invoice
  const isOver = status === 'Settled' && invoice.payments.every((one) => one.credited_usd > 0)
  const live = html`<p role="status">${invoiceBadge(invoice)} ${notes[exception]}</p>
    ${statList([
      [t('Amount'), formatUsd(invoice.amount)],
      [t('Credited'), html`${renderWireCredits(invoice.credited * 1_000)} credits`],
      [t('Rate of {asset}', { asset }), formatUsd(Number(rate))],
      [t('Rate valid until'), renderDateTime(expires)],
    ])}
    ${
      !watcher.ok &&
      html`<p class="notice">
        The network cannot be reached now. A payment is not lost: it appears when the network
        answers.
      </p>`
    }
    ${paymentTable(invoice)}`
  const main = html`<h1>Pay ${formatUsd(invoice.amount)} with ${asset}</h1>
    ${walletTabs(config, addMoneyPath)}
    ${isOver ? live : html`<auto-refresh data-seconds="5">${live}</auto-refresh>`}
    ${payment(invoice, qr)}
    <p class="actions">
      <a class="button quiet" href="${addMoneyPath}/${invoice.invoice_id}">Reload</a
      ><a class="button quiet" href="${addMoneyPath}">All top-ups</a>
    </p>`
  return {
    title: t('Pay with {asset}', { asset }),
    main,
    scripts: ['copy-line.js', 'auto-refresh.js'],
  }
}

/** Returns the QR code of a payment request as SVG. */
async function qrCode(text: string): Promise<Html> {
  const { renderSVG } = await import('uqr')
  return new Html(renderSVG(text, { ecc: 'M', border: 4 }))
}

const invoicesShown = 20
const amountPattern = /^\d{1,9}(\.\d{1,9})?$/

const accountIn = ({ visitor }: UserRequest) => accountOf(walletOf(visitor.person))

async function getPage(req: UserRequest, message?: string, submitted?: Form): Promise<Page> {
  const { ctx, token } = req
  const account = accountIn(req)
  const found = await listInvoices(ctx, { account, limit: invoicesShown })
  const invoices = await Promise.all(
    found.map(({ invoice }) => getInvoiceStatus(ctx, account, invoice.id)),
  )
  const { topupMinUsd: min, topupMaxUsd: max } = ctx.config
  const open = openMethods(ctx.config).map((method) => {
    const network = networkOf(ctx.config, method)
    return { method, network, confirmations: requiredConfirmations(ctx.config, network) }
  })
  const chosen = req.query.get('amount') ?? ''
  const amount = submitted?.text('amount') ?? (amountPattern.test(chosen) ? chosen : '20')
  const method = submitted?.text('method') ?? open[0]?.method ?? ''
  const { available } = await ledger.balanceOf(ctx, walletOf(req.visitor.person))
  const isOperator = req.visitor.person.operator
  const form = { token, amount, method, message, config: ctx.config, isOperator }
  return addMoneyPage({ ...form, methods: open, min, max, available, invoices })
}

/** Creates an invoice and shows it. */
const createInvoice = form(addMoney, {
  fields(sent) {
    const [amount, method] = [sent.text('amount').trim(), sent.text('method')]
    if (!methods.some((one) => one === method)) rejectRequest(t('Choose a coin.'))
    if (!amountPattern.test(amount)) rejectRequest(t('Enter USD as a number such as 20 or 7.50.'))
    return { amount: Number(amount), method }
  },
  then: ({ invoice_id: id }) => `${addMoneyPath}/${id}`,
})

async function getInvoicePage(req: UserRequest, id: string): Promise<Page> {
  const invoice = await getInvoiceStatus(req.ctx, accountIn(req), id).catch((error: unknown) => {
    if (error instanceof ApiError) throw new ApiError('not_found', { what: 'page' })
    throw error
  })
  return invoicePage(req.ctx.config, invoice, await qrCode(invoice.payment_request))
}

/** The pages of the wallet that add money. */
export const addMoneyRoutes = (ctx: AppContext, layout: Layout) =>
  pageRoutes(ctx, layout)
    .get(addMoneyPath, ({ input }) => userPage(input, getPage))
    .post(addMoneyPath, ({ input }) => userForm(input, createInvoice, getPage))
    .get(`${addMoneyPath}/:id`, ({ input, params: { id } }) =>
      userPage(input, (req) => getInvoicePage(req, id)),
    )
