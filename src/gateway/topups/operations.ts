import { createInvoice } from '../../money/payments/coins/invoices.ts'
import { key } from '../authentication.ts'
import { operationsOf } from '../operation.ts'
import * as schemas from './schemas.ts'
import { checkCurrency, getInvoiceStatus, parseTopupAmount, presentInvoice } from './topups.ts'

const operation = operationsOf('Account')

const createTopup = operation({
  id: 'create_topup',
  route: 'POST /topup/create/:method',
  summary: 'Create a crypto top-up.',
  access: key,
  input: { params: schemas.TopupParamsSchema, body: schemas.TopupRequestSchema },
  output: { 200: schemas.InvoiceSchema },
  errors: [
    'too_large',
    'bad_request',
    'not_found',
    'topups_limit',
    'no_rate',
    'payments_off',
    'try_again',
  ],
  async run(ctx, { params: { method }, body: { amount, currency = 'USD' }, caller: { account } }) {
    checkCurrency(currency)
    const invoice = { account, method, amount: parseTopupAmount(ctx, amount) }
    return presentInvoice(await createInvoice(ctx, invoice))
  },
})

const getTopup = operation({
  id: 'get_topup',
  route: 'GET /topup/status/:id',
  summary: 'Get the status of a top-up.',
  access: key,
  input: { params: schemas.InvoiceParamsSchema },
  output: { 200: schemas.InvoiceStatusSchema },
  errors: ['bad_request', 'not_found'],
  run: (ctx, { params: { id }, caller: { account } }) => getInvoiceStatus(ctx, account, id),
})

/** Routes of crypto top-ups (document 2, section 4). */
export const topupOperations = [createTopup, getTopup]
