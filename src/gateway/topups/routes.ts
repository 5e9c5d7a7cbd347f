import { Elysia } from 'elysia'

import type { AppContext } from '../../context.ts'
import { ApiError } from '../../errors.ts'
import { keyAuth } from '../authentication.ts'
import { keyOperation } from '../operation.ts'
import * as schemas from './schemas.ts'

/** Coin payments have no provider here yet. */
const closed = (): never => {
  throw new ApiError('payments_off')
}

/** Crypto top-ups (document 2, section 4): both operations read what is sent, then say 503. */
export const topupRoutes = (ctx: AppContext) =>
  new Elysia()
    .use(keyAuth(ctx))
    .post('/topup/create/:method', closed, {
      params: schemas.TopupParamsSchema,
      body: schemas.TopupRequestSchema,
      ...keyOperation(
        {
          id: 'create_topup',
          tag: 'Account',
          onFullDisk: 'allow',
          summary: 'Begin a crypto top-up.',
        },
        { 200: schemas.InvoiceSchema },
        ['too_large', 'bad_request', 'not_found', 'payments_off'],
      ),
    })
    .get('/topup/status/:id', closed, {
      params: schemas.InvoiceParamsSchema,
      ...keyOperation(
        { id: 'get_topup', tag: 'Account', summary: 'How a top-up stands.' },
        { 200: schemas.InvoiceStatusSchema },
        ['bad_request', 'not_found', 'payments_off'],
      ),
    })
