import { formatCredits, formatDecimal, toUsd } from '../../kernel/money.ts'
import { endWithStop } from '../../kernel/text.ts'
import { paymentsOffMessage } from '../../money/payments/messages.ts'
import { offerFields } from '../../money/payments/x402/offer.ts'
import type { ErrorRows } from './row.ts'

/** Errors of calls that cost credits, and of payments by x402. */
export const payments = {
  not_enough_credits: {
    status: 402,
    message: ({ needed, available }) =>
      `This costs ${formatCredits(needed)} credits and you have ${formatCredits(available)}. Nothing was charged. A person who claims you (POST /me/claim) can send you credits.`,
    fields: offerFields,
  },
  payment_required: {
    status: 402,
    message: ({ amount, share }) =>
      share
        ? `Pay one of "accepts" with x402: ${formatDecimal(toUsd(amount))} USDC to the maker. Or pay by yourself and send { tx, network, signature }. Nothing was charged yet.`
        : `Pay one of "accepts" with x402 to add ${formatCredits(amount)} credits. Nothing was charged yet.`,
    fields: offerFields,
  },
  bad_payment: {
    status: 400,
    message: ({ why }) =>
      `The payment cannot be read: ${why}. Nothing was charged. Send X-PAYMENT or PAYMENT-SIGNATURE as x402 defines it.`,
  },
  payment_rejected: {
    status: 402,
    message: ({ why }) =>
      `The payment was rejected: ${endWithStop(why)} Nothing was charged. Sign a new one.`,
    fields: offerFields,
  },
  payment_used: {
    status: 409,
    message: 'Another account sent this payment first. Sign a new one.',
  },
  payment_pending: {
    status: 202,
    message:
      'The payment is on its way and not confirmed yet. Send the same request with the same payment again. Do not pay again.',
  },
  payments_off: { status: 503, message: paymentsOffMessage },
} satisfies ErrorRows
