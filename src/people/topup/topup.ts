import { ApiError, rejectRequest } from '../../kernel/errors.ts'
import { formatCredits, nano, type NanoUsd, parseCredits, toCredits } from '../../kernel/money.ts'
import { agentOwner } from '../../money/ledger/accounts.ts'
import { balanceOf } from '../../money/ledger/ledger.ts'
import { fromUnits, type Receipt } from '../../money/payments/x402/offer.ts'
import type { AppContext } from '../../server/context.ts'
import type { Agent } from '../agents/agents.ts'
import type { TopUpRequest, TopUpResponse } from './schemas.ts'

const creditsPerUsd = 1_000

/**
 * Adds credits that an agent pays for with x402 (document 1, section 1). `receipt` is the payment
 * that was settled for this request (http/payments.ts). Throws `payment_required` without one,
 * `bad_request` and `payments_off`.
 */
export async function topUp(
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
