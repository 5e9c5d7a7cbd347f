import { Type } from '@sinclair/typebox'

import { lenientObject, oneOf } from '../../core/schema.ts'

export const TopupParamsSchema = Type.Object({ method: oneOf(['usdt', 'btc', 'eth', 'sol']) })

/** POST /topup/create/{method} (document 2, section 4). */
export const TopupRequestSchema = lenientObject({
  amount: Type.Number({ exclusiveMinimum: 0, maximum: 1_000_000_000 }),
  currency: Type.Optional(
    Type.String({
      pattern: '^[A-Z]{3,5}$',
      description: 'Currency of the amount.',
      default: 'USD',
    }),
  ),
})

/** Response to a top-up, once payments are available. */
export const InvoiceSchema = Type.Object({
  invoice_id: Type.String(),
  payment_request: Type.String({ description: 'The address or payment URI to pay.' }),
})

export const InvoiceStatusSchema = Type.Object({ invoice_id: Type.String(), status: Type.String() })

export const InvoiceParamsSchema = Type.Object({
  id: Type.String({ minLength: 1, maxLength: 100 }),
})
