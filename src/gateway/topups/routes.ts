import { Elysia } from 'elysia'

import type { AppContext } from '../../context.ts'
import { taking } from '../../core/taking.ts'
import { ApiError } from '../../errors.ts'
import { withKey } from '../key.ts'
import { operation } from '../operation.ts'
import * as schemas from './schemas.ts'

/** Coin payments have no provider here yet. */
const closed = (): never => {
  throw new ApiError('payments_off')
}

/** Crypto top-ups (document 2, section 4): both operations read what is sent, then say 503. */
export const topupRoutes = (ctx: AppContext) =>
  new Elysia()
    .use(withKey(ctx))
    .post('/topup/create/:method', closed, {
      params: schemas.TopupParamsSchema,
      ...taking(schemas.TopupRequestSchema),
      ...operation(
        { id: 'create_topup', tag: 'Account', summary: 'Begin a crypto top-up.' },
        { 200: schemas.InvoiceSchema },
        ['too_large', 'bad_request', 'not_found', 'payments_off'],
      ),
    })
    .get('/topup/status/:id', closed, {
      params: schemas.InvoiceParamsSchema,
      ...operation(
        { id: 'get_topup', tag: 'Account', summary: 'How a top-up stands.' },
        { 200: schemas.InvoiceStatusSchema },
        ['bad_request', 'not_found', 'payments_off'],
      ),
    })
