import { addMoney } from '../../apps/owners/wallet-operations.ts'
import { getInvoiceStatus } from '../../gateway/topups/topups.ts'
import type { AppContext } from '../../kernel/context.ts'
import { ApiError } from '../../kernel/errors.ts'
import { accountOf } from '../../money/ledger/accounts.ts'
import * as ledger from '../../money/ledger/ledger.ts'
import { listInvoices } from '../../money/payments/coins/invoices.ts'
import {
  methods,
  networkOf,
  openMethods,
  requiredConfirmations,
} from '../../money/payments/coins/method.ts'
import { walletOf } from '../../people/people.ts'
import { form } from '../form.ts'
import { type Form, rejectForm } from '../forms.ts'
import type { Layout, Page } from '../layout.ts'
import { pageRoutes, userForm, userPage, type UserRequest } from '../session.ts'
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

/** Creates an invoice and shows it. */
const createInvoice = form(addMoney, {
  fields(sent) {
    const [amount, method] = [sent.text('amount').trim(), sent.text('method')]
    if (!methods.some((one) => one === method)) rejectForm('Choose a coin.')
    if (!amountPattern.test(amount)) rejectForm('Enter USD as a number such as 20 or 7.50.')
    return { amount: Number(amount), method }
  },
  then: ({ invoice_id: id }) => `${addMoneyPath}/${id}`,
})

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
    .post(addMoneyPath, ({ input }) => userForm(input, createInvoice, getPage))
    .get(`${addMoneyPath}/:id`, ({ input, params: { id } }) =>
      userPage(input, (req) => getInvoicePage(req, id)),
    )
