import { paymentErrors } from '../../kernel/http/operation.ts'

/** A JSON object of a description. */
export type Node = { [name: string]: unknown }

const base64 = { type: 'string', contentEncoding: 'base64' }
const receipt = 'of the payment that was settled for this request: JSON in base64.'

/** The headers of payments (docs/spec/payments.md, "x402"), for `components`. */
export const paymentHeaders = {
  PaymentRequired: {
    description: 'The offer in version 2 of x402: JSON in base64.',
    schema: base64,
  },
  PaymentResponse: { description: `The receipt ${receipt} Version 2 of x402.`, schema: base64 },
  XPaymentResponse: { description: `The receipt ${receipt} Version 1 of x402.`, schema: base64 },
}
const refTo = (name: keyof typeof paymentHeaders) => ({ $ref: `#/components/headers/${name}` })

/** The header parameters of an operation that takes payments. */
const parameters = [
  ['PAYMENT-SIGNATURE', 2],
  ['X-PAYMENT', 1],
].map(([name, version]) => ({
  in: 'header',
  name,
  required: false,
  description: `A payment that "accepts" of a 402 offers, in version ${version} of x402: JSON in base64. It is settled where the call is short of credits.`,
  schema: base64,
}))

/** Returns whether an operation takes payments, by its declaration. */
export const takesPayments = (errors: unknown): boolean =>
  Array.isArray(errors) && paymentErrors.every((name) => errors.includes(name))

/** Returns the parameters that payments add to an operation. */
export const paymentParameters = (isPaid: boolean): Node[] => (isPaid ? parameters : [])

/** Returns the headers that payments add to a response. */
export function paymentHeadersOf(status: string, isPaid: boolean): Node {
  if (!isPaid) return {}
  if (status === '402') return { 'payment-required': refTo('PaymentRequired') }
  if (status >= '300') return {}
  return {
    'payment-response': refTo('PaymentResponse'),
    'x-payment-response': refTo('XPaymentResponse'),
  }
}
