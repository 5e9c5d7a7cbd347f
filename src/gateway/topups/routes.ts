import { Elysia } from 'elysia'

import type { AppContext } from '../../context.ts'
import { createInvoice } from '../../payments/coins/invoices.ts'
import { keyAuth } from '../authentication.ts'
import { keyOperation } from '../operation.ts'
import * as schemas from './schemas.ts'
import { checkCurrency, getInvoiceStatus, parseTopupAmount, presentInvoice } from './topups.ts'

/** Routes of crypto top-ups (document 2, section 4). */
export const topupRoutes = (ctx: AppContext) =>
  new Elysia()
    .use(keyAuth(ctx))
    .post(
      '/topup/create/:method',
      async ({ params: { method }, body: { amount, currency = 'USD' }, spender: { account } }) => {
        checkCurrency(currency)
        const invoice = { account, method, amount: parseTopupAmount(ctx, amount) }
        return presentInvoice(await createInvoice(ctx, invoice))
      },
      {
        params: schemas.TopupParamsSchema,
        body: schemas.TopupRequestSchema,
        ...keyOperation(
          { id: 'create_topup', tag: 'Account', summary: 'Create a crypto top-up.' },
          { 200: schemas.InvoiceSchema },
          [
            'too_large',
            'bad_request',
            'not_found',
            'topups_limit',
            'no_rate',
            'payments_off',
            'try_again',
          ],
        ),
      },
    )
    .get(
      '/topup/status/:id',
      ({ params: { id }, spender: { account } }) => getInvoiceStatus(ctx, account, id),
      {
        params: schemas.InvoiceParamsSchema,
        ...keyOperation(
          { id: 'get_topup', tag: 'Account', summary: 'Get the status of a top-up.' },
          { 200: schemas.InvoiceStatusSchema },
          ['bad_request', 'not_found'],
        ),
      },
    )
