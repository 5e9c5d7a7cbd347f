import { Elysia } from 'elysia'

import type { AppContext } from '../../context.ts'
import { ApiError } from '../../errors.ts'
import { keyAuth } from '../authentication.ts'
import { keyOperation } from '../operation.ts'
import * as schemas from './schemas.ts'

/** Throws `payments_off`: there is no payment provider yet. */
const rejectPayment = (): never => {
  throw new ApiError('payments_off', { setting: 'COINS' })
}

/**
 * Routes of crypto top-ups (document 2, section 4). They validate the request, then respond 503.
 */
export const topupRoutes = (ctx: AppContext) =>
  new Elysia()
    .use(keyAuth(ctx))
    .post('/topup/create/:method', rejectPayment, {
      params: schemas.TopupParamsSchema,
      body: schemas.TopupRequestSchema,
      ...keyOperation(
        {
          id: 'create_topup',
          tag: 'Account',
          onFullDisk: 'allow',
          summary: 'Create a crypto top-up',
        },
        { 200: schemas.InvoiceSchema },
        ['too_large', 'bad_request', 'not_found', 'payments_off'],
      ),
    })
    .get('/topup/status/:id', rejectPayment, {
      params: schemas.InvoiceParamsSchema,
      ...keyOperation(
        { id: 'get_topup', tag: 'Account', summary: 'Get the status of a top-up' },
        { 200: schemas.InvoiceStatusSchema },
        ['bad_request', 'not_found', 'payments_off'],
      ),
    })
