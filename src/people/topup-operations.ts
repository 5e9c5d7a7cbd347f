import { agent } from '../authentication.ts'
import { operationsOf, writeErrors } from '../operation.ts'
import { TopUpRequestSchema, TopUpResponseSchema } from './schemas.ts'
import * as topup from './topup.ts'

const topUp = operationsOf('Your things')({
  id: 'top_up',
  route: 'POST /topup',
  onFullDisk: 'allow',
  summary: 'Add credits that you pay for with USDC (x402).',
  description:
    'Without a payment it answers 402 with an offer. Sign the offer and send the same ' +
    'request again with the payment. The credits are those of the payment: 1 USD is ' +
    '1,000 credits.',
  access: agent,
  input: { body: TopUpRequestSchema },
  output: { 200: TopUpResponseSchema },
  errors: [...writeErrors, 'payment_required', 'payments_off'],
  run: (ctx, { caller, body, context }) => topup.topUp(ctx, caller.agent, body, context.receipt),
})

/** Credits that an agent pays for with x402 (document 1, section 1). */
export const topUpOperations = [topUp]
