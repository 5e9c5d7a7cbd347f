import { type Static, Type } from '@sinclair/typebox'

import {
  lenientObject,
  namedObject,
  nullable,
  oneOf,
  sixDecimals,
  TimeSchema,
} from '../../kernel/schema.ts'
import { methods } from '../../money/payments/coins/method.ts'
import { exceptions, statuses } from '../../money/payments/coins/status.ts'

export const TopupParamsSchema = Type.Object({ method: oneOf(methods) })

/** POST /topup/create/{method} (document 2, section 4). */
export const TopupRequestSchema = lenientObject({
  amount: Type.Number({ exclusiveMinimum: 0, maximum: 1_000_000_000, ...sixDecimals }),
  currency: Type.Optional(
    Type.String({
      pattern: '^[A-Z]{3,5}$',
      described: { enum: ['USD'] },
      description: 'Currency of the amount. Only USD.',
      default: 'USD',
    }),
  ),
})

const coinAmount = (description: string) =>
  Type.String({ pattern: '^\\d+(\\.\\d+)?$', description: `${description}, in coins.` })
const UsdSchema = Type.Number({ minimum: 0 })

const invoiceFields = {
  invoice_id: Type.String(),
  payment_request: Type.String({ description: 'The payment URI: BIP21, EIP-681 or Solana Pay.' }),
  address: Type.String(),
  network: Type.String({ description: 'CAIP-2-like: eip155:1, bitcoin:mainnet.' }),
  amount_due: coinAmount('The amount to pay'),
  asset: Type.String(),
  rate: Type.String({ description: 'USD per coin.' }),
  expires_at: TimeSchema,
}

export const InvoiceSchema = namedObject('Invoice', invoiceFields)
export type InvoiceBody = Static<typeof InvoiceSchema>

const PaymentSchema = Type.Object({
  tx: Type.String(),
  amount: coinAmount('The amount'),
  confirmations: Type.Integer({ minimum: 0 }),
  required_confirmations: Type.Integer({ minimum: 1 }),
  credited_usd: UsdSchema,
  late: Type.Boolean(),
})

export const InvoiceStatusSchema = namedObject('InvoiceStatus', {
  ...invoiceFields,
  method: oneOf(methods),
  status: oneOf(statuses),
  exception: oneOf(exceptions),
  amount: UsdSchema,
  currency: Type.String(),
  amount_paid: coinAmount('What arrived, confirmed or not'),
  amount_confirmed: coinAmount('What was credited'),
  rate_source: Type.String(),
  payments: Type.Array(PaymentSchema),
  credited: UsdSchema,
  created_at: TimeSchema,
  monitored_until: TimeSchema,
  watcher: Type.Object({ ok: Type.Boolean(), last_poll_at: nullable(TimeSchema) }),
})
export type InvoiceStatusBody = Static<typeof InvoiceStatusSchema>

export const InvoiceParamsSchema = Type.Object({
  id: Type.String({ minLength: 1, maxLength: 100 }),
})
