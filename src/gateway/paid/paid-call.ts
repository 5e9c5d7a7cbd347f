import type { AppContext } from '../../kernel/context.ts'
import { type Content, Success, withHeaders } from '../../kernel/http/outcome.ts'
import { formatDecimal } from '../../kernel/money.ts'
import { type Json, recordOf } from '../../kernel/schema.ts'
import type { HoldRequest } from '../../money/ledger/holds.ts'
import { pay, type Payment } from '../../money/pay.ts'
import type { Margin, Spender } from '../authentication.ts'
import type { Call, CallOutcome } from '../call.ts'
import { storedPrice } from '../models/price.ts'
import type { UpstreamPath } from '../providers/upstream.ts'
import { expireHolds, holdDurationMs, holdRef } from '../usage/expire-holds.ts'
import type { Candidates, MaxCost } from './candidates.ts'

/** A paid call of the gateway, checked and ready to be held and served. */
export interface PaidCall extends Call {
  ctx: AppContext
  spender: Spender
  candidates: Candidates
  /** The request in OpenAI's format, for traces. */
  requested?: Json
  /** The name of the stored response; undefined without an Idempotency-Key. */
  slot: string | undefined
}

/** The result of a call, which becomes its outcome; a stream is sent while the call runs. */
export type CallResult = Success | Content

/** A paid operation of the gateway. */
interface PaidOperation extends Pick<Payment<CallResult>, 'prepare'> {
  path: UpstreamPath | '/chat/completions'
  /** The request's body, which identifies the work together with the path. */
  body: unknown
  /** Turns the value of a result into the outcome, at first and in replays. */
  present(value: unknown): CallOutcome | Promise<CallOutcome>
}

/** Pays for an operation and returns its outcome. Throws the errors of `pay`. */
export async function payForCall(
  ctx: AppContext,
  { account, callerId, runningRequests: max }: Spender,
  { idempotencyKey: key, signal }: Call,
  { path, body, present, prepare }: PaidOperation,
): Promise<CallOutcome> {
  // A retry after a crash must find the charge of its first attempt, so that is settled first.
  if (key !== undefined) await ctx.state.expiredHolds.get(() => expireHolds(ctx))
  const result = await pay<CallResult>(ctx, {
    who: {
      owner: account,
      key,
      fingerprint: { path, body },
      caller: { id: callerId, max, signal },
    },
    prepare,
    replay: (stored) => stored,
  })
  return result instanceof Success ? present(result.value) : result
}

/** Returns the hold of a call: its maximum cost, charged in full when the process dies. */
export function holdRequestOf(
  { ctx, spender, candidates, requestId, slot }: PaidCall,
  { amount, price }: MaxCost,
  kind: string,
  part?: string,
): HoldRequest {
  return {
    account: spender.account,
    amount,
    ref: holdRef(part ? [kind, requestId, part] : [kind, requestId], slot),
    kind,
    item: candidates[0].model.id,
    funds: spender.funds,
    price: storedPrice(price),
    cap: spender.cap,
    group: spender.group,
    payer: spender.payer,
    ...(spender.margin && { shares: [marginShare(spender.margin)] }),
    budgets: spender.budgets,
    onExpiry: 'settle',
    ms: holdDurationMs(ctx),
  }
}

/** Of 120 that a caller pays with a margin of 20 %, 20 are for its account. */
const marginShare = ({ percent, account, item }: Margin) => ({
  account,
  percent,
  of: 100 + percent,
  kind: 'margin',
  item,
})

/** Returns the value of a result as JSON, with its cost as a header. */
export function jsonOutcome(value: unknown, headers = {}): CallOutcome {
  const { usage, usageMetadata, cost } = recordOf(value)
  const charged = costHeader(Number(recordOf(usage ?? usageMetadata).cost ?? cost))
  return withHeaders(value, { ...charged, ...headers })
}

/** Returns X-Service-Cost: USD as plain digits with at most nine decimals. */
export const costHeader = (cost: number): { 'x-service-cost': string } => ({
  'x-service-cost': formatDecimal(cost),
})
