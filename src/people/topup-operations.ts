import { type Static, Type } from '@sinclair/typebox'

import type { AppContext } from '../kernel/context.ts'
import { ApiError, rejectRequest } from '../kernel/errors.ts'
import { formatCredits, nano, type NanoUsd, parseCredits, toCredits } from '../kernel/money.ts'
import { exactlyOne, sixDecimals, strictObject } from '../kernel/schema.ts'
import { agentOwner } from '../money/ledger/accounts.ts'
import { balanceOf } from '../money/ledger/ledger.ts'
import { fromUnits, type Receipt } from '../money/payments/x402/headers.ts'
import type { Agent } from './agents/agents.ts'
import { agent } from './authentication.ts'
import { operationsOf, writeErrors } from './operation.ts'

/** The amount of POST /topup: exactly one of the two. */
const TopUpRequestSchema = strictObject(
  {
    credits: Type.Optional(
      Type.Number({
        exclusiveMinimum: 0,
        maximum: 1_000_000_000,
        ...sixDecimals,
        description: 'Credits to add.',
      }),
    ),
    usd: Type.Optional(
      Type.Number({
        exclusiveMinimum: 0,
        maximum: 1_000_000,
        description: 'USD to add: 1 USD is 1,000 credits.',
      }),
    ),
  },
  { ...exactlyOne('credits', 'usd'), examples: [{ credits: 1_000 }] },
)
type TopUpRequest = Static<typeof TopUpRequestSchema>

const TopUpResponseSchema = Type.Object({
  added: Type.Number({ description: 'Credits that the payment added.' }),
  credits: Type.Number({ description: 'Your credits after it.' }),
  payment: Type.Object({
    tx: Type.String({ description: 'Hash of the transaction.' }),
    network: Type.String({ description: 'CAIP-2 name of the chain: eip155:8453 is Base.' }),
    payer: Type.String({ description: 'Address that paid.' }),
  }),
})
type TopUpResponse = Static<typeof TopUpResponseSchema>

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
  run: (ctx, { caller, body, context }) => addPaidCredits(ctx, caller.agent, body, context.receipt),
})

/** Credits that an agent pays for with x402 (document 1, section 1). */
export const topUpOperations = [topUp]

const creditsPerUsd = 1_000

/**
 * Adds credits that an agent pays for with x402 (document 1, section 1). `receipt` is the payment
 * that was settled for this request (money/payment.ts). Throws `payment_required` without one,
 * `bad_request` and `payments_off`.
 */
async function addPaidCredits(
  ctx: AppContext,
  agent: Agent,
  request: TopUpRequest,
  receipt: Receipt | undefined,
): Promise<TopUpResponse> {
  const { x402 } = ctx
  if (!x402) throw new ApiError('payments_off', { setting: 'X402_PAY_TO' })
  const amount = amountOf(ctx, request)
  if (!receipt) {
    const problem = await x402.findProblem()
    if (problem) throw new ApiError('payments_off', { setting: problem.setting, isSet: true })
    throw new ApiError('payment_required', { amount })
  }
  const { balance } = await balanceOf(ctx, agentOwner(agent.id))
  return {
    added: toCredits(fromUnits(receipt.amount)),
    credits: toCredits(balance),
    payment: { tx: receipt.transaction, network: x402.network.id, payer: receipt.payer },
  }
}

function amountOf({ config }: AppContext, { credits, usd }: TopUpRequest): NanoUsd {
  if ((credits === undefined) === (usd === undefined))
    rejectRequest('Send exactly one of "credits" and "usd".')
  const param = credits === undefined ? 'usd' : 'credits'
  const amount = credits === undefined ? fromUsdNumber(usd ?? 0) : parseCredits(credits, param)
  const { x402PaymentMinUsd: min, x402PaymentMaxUsd: max } = config
  if (amount >= min && amount <= max) return amount
  rejectRequest(
    `One payment adds ${formatCredits(min)} to ${formatCredits(max)} credits. Change "${param}".`,
    param,
  )
}

/** Converts USD of a request, of which 0.000000001 is the smallest part. */
const fromUsdNumber = (usd: number): NanoUsd =>
  nano(BigInt(Math.round(usd * creditsPerUsd * 1_000_000)))
