import { errorEnvelope, isGatewayError } from '../../gateway/error-response.ts'
import { getInvoiceStatus, parseTopupAmount } from '../../gateway/topups/topups.ts'
import { ApiError } from '../../kernel/errors.ts'
import { accountOf } from '../../money/ledger/accounts.ts'
import * as ledger from '../../money/ledger/ledger.ts'
import { createInvoice, listInvoices } from '../../money/payments/coins/invoices.ts'
import {
  methods,
  networkOf,
  openMethods,
  requiredConfirmations,
} from '../../money/payments/coins/method.ts'
import { walletOf } from '../../people/people.ts'
import type { AppContext } from '../../server/context.ts'
import { type Form, rejectForm } from '../forms.ts'
import type { Layout, Page } from '../layout.ts'
import { pageRoutes, redirectTo, userForm, userPage, type UserRequest } from '../session.ts'
import { addMoneyPage, addMoneyPath, invoicePage, qrCode } from './add-money.ts'

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
  const form = { token, amount, method, message }
  return addMoneyPage({ ...form, methods: open, min, max, available, invoices })
}

/** Creates an invoice and shows it. Throws `bad_request` and the errors of `createInvoice`. */
async function addMoney(req: UserRequest, form: Form): Promise<Response> {
  const { ctx } = req
  const method = methods.find((one) => one === form.text('method'))
  if (!method) return rejectForm('Choose a coin.')
  const text = form.text('amount').trim()
  if (!amountPattern.test(text)) rejectForm('Enter USD as a number such as 20 or 7.50.')
  const amount = parseTopupAmount(ctx, Number(text))
  const request = { account: accountIn(req), method, amount }
  const { id } = await createInvoice(ctx, request).catch((error: unknown) => {
    if (isGatewayError(error)) rejectForm(errorEnvelope(error).body.error.message)
    throw error
  })
  return redirectTo(`${addMoneyPath}/${id}`)
}

async function getInvoicePage(req: UserRequest, id: string): Promise<Page> {
  const invoice = await getInvoiceStatus(req.ctx, accountIn(req), id).catch((error: unknown) => {
    if (error instanceof ApiError) throw new ApiError('not_found', { what: 'page' })
    throw error
  })
  return invoicePage(invoice, await qrCode(invoice.payment_request))
}

/** The pages of the wallet that add money. */
export const addMoneyRoutes = (ctx: AppContext, layout: Layout) =>
  pageRoutes(ctx, layout)
    .get(addMoneyPath, ({ input }) => userPage(input, getPage))
    .post(addMoneyPath, ({ input }) => userForm(input, addMoney, getPage))
    .get(`${addMoneyPath}/:id`, ({ input, params: { id } }) =>
      userPage(input, (req) => getInvoicePage(req, id)),
    )
