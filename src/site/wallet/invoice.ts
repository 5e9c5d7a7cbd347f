import {
  getInvoiceStatus,
  type InvoiceStatusBody,
} from '../../gateway/accounts/topup-operations.ts'
import type { AppContext } from '../../kernel/context.ts'
import { ApiError } from '../../kernel/errors.ts'
import { Html, html, type Part } from '../../kernel/html.ts'
import { lookUp } from '../../kernel/schema.ts'
import { msg, t, type Text } from '../../kernel/words/message.ts'
import { accountOf } from '../../money/ledger/accounts.ts'
import { walletOf } from '../../people/people.ts'
import { copyLine, statList, withQuery } from '../components.ts'
import { formatUsd, renderDateTime, renderDeadline, renderWireCredits } from '../format.ts'
import type { Page } from '../layout.ts'
import { tableSection } from '../lists.ts'
import { addMoneyPath } from '../paths.ts'
import type { UserRequest } from '../session.ts'
import { walletTabs } from './history.ts'

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

/** The notes on what did not go as planned. */
const notes: Record<InvoiceStatusBody['exception'], Part> = {
  none: false,
  paid_partial: msg('Less than the amount arrived. It is credited.'),
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
export const nameNetwork = (network: string): Text => lookUp(networkNames, network) ?? network

/**
 * Amount, address and code, while the invoice can be paid. After a part arrived, only the address:
 * the code and the link have the whole amount.
 */
function payment(invoice: InvoiceStatusBody, qr: Html): Html {
  const { asset, network, address, amount_due: due, amount_paid: paid } = invoice
  const isWhole = invoice.exception !== 'paid_partial'
  return html`<div class="invoice">
    <div>
      <h2>${isWhole ? html`Send ${due} ${asset}` : html`Send the rest of ${due} ${asset}`}</h2>
      <p>
        Network: <strong>${nameNetwork(network)}</strong>. Send only ${asset} on this network.
        ${!isWhole && html`${paid} ${asset} arrived.`}
      </p>
    </div>
    ${
      isWhole &&
      html`<a class="qr" href="${invoice.payment_request}" aria-label="Open in a wallet">${qr}</a>`
    }
    <div>
      ${
        isWhole &&
        html`<p class="small">Amount in ${asset}</p>
          ${copyLine(due, t('Amount in {asset}', { asset }))}`
      }
      <p class="small">Address</p>
      ${copyLine(address, t('Address'))}
      ${
        isWhole &&
        html`<p class="small">Payment link</p>
          ${copyLine(invoice.payment_request, t('Payment link'))}`
      }
    </div>
  </div>`
}

/** An invoice that takes no payment any more: what to do, and what happens to one that was sent. */
function ended(invoice: InvoiceStatusBody, now: number): Html {
  const { status, exception, amount, method, expires_at: expires, monitored_until: until } = invoice
  const isWatched = now < Date.parse(until)
  const again = withQuery(addMoneyPath, { amount: String(amount), method })
  return html`<div class="summary">
    <p role="status">
      ${
        status === 'Invalid'
          ? html`The network does not show your payment any more, and this invoice expired on
            ${renderDateTime(expires)}.`
          : html`This invoice expired on ${renderDateTime(expires)}.`
      }
      <strong>Do not send money to its address.</strong> ${notes[exception]}
    </p>
    <p>
      ${
        isWatched
          ? html`Did you pay already? You need to do nothing: a payment that arrives before
            ${renderDateTime(until)} is credited at the rate of its arrival, and appears here.`
          : html`Payments to it are not looked for since ${renderDateTime(until)}. Did you pay later
            than that? Send the transaction to the operator of this server.`
      }
    </p>
    <p class="actions"><a class="button" href="${again}">Create a new invoice</a></p>
  </div>`
}

const titles: Record<InvoiceStatusBody['status'], Text> = {
  New: msg('Pay with a coin'),
  Processing: msg('Payment on its way'),
  Settled: msg('Payment received'),
  Expired: msg('Invoice expired'),
  Invalid: msg('Payment lost'),
}

/**
 * Renders an invoice. It refreshes itself with scripts, and shows the newest state on reload. Only
 * one that can be paid has an address: people send money to what they see.
 */
function invoicePage(ctx: AppContext, invoice: InvoiceStatusBody, qr: Html): Page {
  const { asset, rate, status, exception, watcher, expires_at: expires } = invoice
  const now = ctx.clock.now()
  const isOver = status === 'Settled' && invoice.payments.every((one) => one.credited_usd > 0)
  const isEnded = status === 'Expired' || status === 'Invalid'
  const facts = statList([
    [t('Amount'), formatUsd(invoice.amount)],
    [t('Credited'), html`${renderWireCredits(invoice.credited * 1_000)} credits`],
    [t('Rate of {asset}', { asset }), formatUsd(Number(rate))],
    status === 'New'
      ? [t('Expires'), renderDeadline(expires, now)]
      : [t('Rate valid until'), renderDateTime(expires)],
  ])
  const state = html`<p role="status">${invoiceBadge(invoice)} ${notes[exception]}</p>`
  const live = html`${isEnded ? ended(invoice, now) : html`${state}${facts}`}
  ${
    !watcher.ok &&
    html`<p class="notice">
      The network cannot be reached now. A payment is not lost: it appears when the network answers.
    </p>`
  }
  ${paymentTable(invoice)}
  ${
    isEnded &&
    html`<details>
      <summary>Details</summary>
      ${facts}
    </details>`
  }`
  const title =
    status === 'New'
      ? html`Pay ${formatUsd(invoice.amount)} with ${asset}`
      : html`${titles[status]}`
  const main = html`<h1>${title}</h1>
    ${walletTabs(ctx.config, addMoneyPath)}
    ${isOver ? live : html`<auto-refresh data-seconds="5" data-state="${status}">${live}</auto-refresh>`}
    ${status === 'New' && payment(invoice, qr)}
    <p class="actions">
      <a class="button quiet" href="${addMoneyPath}/${invoice.invoice_id}">Reload</a
      ><a class="button quiet" href="${addMoneyPath}">All top-ups</a>
    </p>`
  return { title: titles[status], main, scripts: ['copy-line.js', 'auto-refresh.js'] }
}

/** Returns the QR code of a payment request as SVG. */
async function qrCode(text: string): Promise<Html> {
  const { renderSVG } = await import('uqr')
  return new Html(renderSVG(text, { ecc: 'M', border: 4 }))
}

/** Returns the page of an invoice of a person. Throws `not_found`. */
export async function getInvoicePage(req: UserRequest, id: string): Promise<Page> {
  const invoice = await getInvoiceStatus(
    req.ctx,
    accountOf(walletOf(req.visitor.person)),
    id,
  ).catch((error: unknown) => {
    if (error instanceof ApiError) throw new ApiError('not_found', { what: 'page' })
    throw error
  })
  return invoicePage(req.ctx, invoice, await qrCode(invoice.payment_request))
}
