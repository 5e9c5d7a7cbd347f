import { Elysia } from 'elysia'

import type { AppContext } from '../../context.ts'
import { getRequestContext } from '../../http/request-context.ts'
import { callerAuth } from '../authentication.ts'
import { agentOperation, writeErrors } from '../operation.ts'
import { TopUpRequestSchema, TopUpResponseSchema } from './schemas.ts'
import { topUp } from './topup.ts'

/** Credits that an agent pays for with x402 (document 1, section 1). */
export const topUpRoutes = (ctx: AppContext) =>
  new Elysia()
    .use(callerAuth(ctx))
    .post(
      '/topup',
      ({ caller, body, request }) =>
        topUp(ctx, caller.agent, body, getRequestContext(request).receipt),
      {
        body: TopUpRequestSchema,
        ...agentOperation(
          {
            id: 'top_up',
            tag: 'Your things',
            onFullDisk: 'allow',
            summary: 'Add credits that you pay for with USDC (x402).',
            description:
              'Without a payment it answers 402 with an offer. Sign the offer and send the same ' +
              'request again with the payment. The credits are those of the payment: 1 USD is ' +
              '1,000 credits.',
          },
          { 200: TopUpResponseSchema },
          [...writeErrors, 'payment_required', 'payments_off'],
        ),
      },
    )
