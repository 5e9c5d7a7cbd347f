import { addMoney } from '../../apps/owners/wallet-operations.ts'
import {
  getInvoiceStatus,
  type InvoiceStatusBody,
} from '../../gateway/accounts/topup-operations.ts'
import type { Config } from '../../kernel/config/settings.ts'
import type { AppContext } from '../../kernel/context.ts'
import { rejectRequest } from '../../kernel/errors.ts'
import { type Html, html, type Part } from '../../kernel/html.ts'
import { type NanoUsd, toUsd } from '../../kernel/money.ts'
import { minute } from '../../kernel/time.ts'
import { t } from '../../kernel/words/message.ts'
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
import { section, withQuery } from '../components.ts'
import { form } from '../form.ts'
import { formatCount, formatUsd, renderCredits, renderDateTime } from '../format.ts'
import { alert, button, choiceField, type Form, inputField, postForm } from '../forms.ts'
import type { Layout, Page } from '../layout.ts'
import { chip, dataTable, emptyState } from '../lists.ts'
import { addMoneyPath } from '../paths.ts'
import { pageRoutes, userForm, userPage, type UserRequest } from '../session.ts'
import { walletTabs } from './history.ts'
import { getInvoicePage, invoiceBadge, nameNetwork } from './invoice.ts'

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
  const requested = open.find(({ method: one }) => one === req.query.get('method')) ?? open[0]
  const method = submitted?.text('method') ?? requested?.method ?? ''
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

/** The pages of the wallet that add money. */
export const addMoneyRoutes = (ctx: AppContext, layout: Layout) =>
  pageRoutes(ctx, layout)
    .get(addMoneyPath, ({ input }) => userPage(input, getPage))
    .post(addMoneyPath, ({ input }) => userForm(input, createInvoice, getPage))
    .get(`${addMoneyPath}/:id`, ({ input, params: { id } }) =>
      userPage(input, (req) => getInvoicePage(req, id)),
    )
