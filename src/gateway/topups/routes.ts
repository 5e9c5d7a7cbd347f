import { Elysia } from 'elysia'

import { taking } from '../../core/taking.ts'
import type { House } from '../../house.ts'
import { Refusal } from '../../refusals.ts'
import { withKey } from '../key.ts'
import { operation } from '../operation.ts'
import * as shapes from './shapes.ts'

/** Coin payments have no provider here yet. */
const closed = (): never => {
  throw new Refusal('payments_off')
}

/** Crypto top-ups (document 2, section 4): both operations read what is sent, then say 503. */
export const topupRoutes = (house: House) =>
  new Elysia()
    .use(withKey(house))
    .post('/topup/create/:method', closed, {
      params: shapes.Method,
      ...taking(shapes.TopUpWanted),
      ...operation(
        { id: 'create_topup', tag: 'Account', summary: 'Begin a crypto top-up.' },
        { 200: shapes.Invoice },
        ['too_large', 'bad_request', 'not_found', 'payments_off'],
      ),
    })
    .get('/topup/status/:id', closed, {
      params: shapes.InvoiceId,
      ...operation(
        { id: 'get_topup', tag: 'Account', summary: 'How a top-up stands.' },
        { 200: shapes.InvoiceStatus },
        ['bad_request', 'not_found', 'payments_off'],
      ),
    })
