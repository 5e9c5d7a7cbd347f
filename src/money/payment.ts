import type { AppContext } from '../kernel/context.ts'
import { ApiError, isApiError } from '../kernel/errors.ts'
import type { IncomingCall, Payer } from '../kernel/http/operation.ts'
import type { RequestContext, Shortfall } from '../kernel/http/request-context.ts'
import { nano, zero } from '../kernel/money.ts'
import type { Json } from '../kernel/schema.ts'
import { type Cap, checkDailyCap } from './ledger/holds.ts'
import {
  authorizationName,
  createOffer,
  hasPayment,
  type Payment,
  readPayment,
  type Receipt,
  receiptHeader,
} from './payments/x402/headers.ts'
import type { PaymentRow } from './payments/x402/rows.ts'
import type { X402 } from './payments/x402/x402.ts'

declare module '../kernel/http/operation.ts' {
  interface Payer {
    account: PaymentRow['account']
    cap: Cap
  }
}

declare module '../kernel/http/request-context.ts' {
  interface RequestContext {
    /** The payment that was settled for this request. */
    receipt?: Receipt | undefined
    /** The version of x402 of the payment that came with this request. */
    paymentVersion?: 1 | 2
  }
}

/** An error that a payment resolves, with the offer that the client can pay. */
export class OfferedError extends Error {
  readonly fields: Json
  readonly headers: Readonly<Record<string, string>>

  constructor(
    readonly error: ApiError,
    offer: { fields: Json; header: string },
  ) {
    super(error.message)
    this.fields = offer.fields
    this.headers = { 'payment-required': offer.header, 'cache-control': noCache }
  }
}

/** Offers and receipts are for one client. */
const noCache = 'no-store, private'

const payAdvice = 'Or pay one of "accepts" with x402, and send the request again with the payment.'

/** Returns the body of an error with an offer: that of the error, its fields, and advice. */
export function offeredBody({ fields }: OfferedError, body: Json): Json {
  const advice = body['code'] === 'not_enough_credits' && { error: `${body['error']} ${payAdvice}` }
  return { ...body, ...advice, ...fields }
}

/** A call with its payment, which also names it where nothing else does. */
export interface PaidCall {
  incoming: IncomingCall
  payment: Payment | undefined
}

/** Reads the payment of a call. Throws `bad_payment`. */
export function readPaidCall({ x402 }: AppContext, incoming: IncomingCall): PaidCall {
  if (!x402 || !hasPayment(incoming.headers)) return { incoming, payment: undefined }
  const payment = readPayment(incoming.headers)
  const headers = new Headers(incoming.headers)
  if (!headers.has('idempotency-key'))
    headers.set('idempotency-key', authorizationName(x402.network.id, payment))
  return { incoming: { ...incoming, headers }, payment }
}

/**
 * Runs work that its payer may be short of credits for (docs/spec/payments.md, "x402"). An error
 * that money resolves offers the smallest payment. With a payment, it is settled and credited then,
 * and the work runs again from the credits.
 */
export async function withPayment<Result>(
  ctx: AppContext,
  { incoming, payment }: PaidCall,
  payer: Payer | undefined,
  run: () => Promise<Result>,
): Promise<Result> {
  const { x402 } = ctx
  if (!x402 || !payer) return run()
  const call = { ctx, x402, incoming, payer }
  if (!payment) return run().catch(async (error: unknown) => rejectWithOffer(call, error))
  const { context } = incoming
  context.paymentVersion = payment.version
  try {
    const result = await run()
    context.receipt = await x402.findReceipt(payment, payer.account)
    return result
  } catch (error) {
    const shortfall = shortfallOf(error)
    if (!shortfall) {
      context.receipt = await x402.findReceipt(payment, payer.account)
      throw error
    }
    await checkDailyCap(ctx.db.read, payer.cap, shortfall.spends, ctx.clock.now())
    context.receipt = await settle(call, payment, shortfall)
  }
  return run().catch(async (error: unknown) => rejectWithOffer(call, error))
}

interface PayingCall {
  ctx: AppContext
  x402: X402
  incoming: IncomingCall
  payer: Payer
}

/** Settles a payment. Throws `payment_rejected` with a new offer. */
async function settle(call: PayingCall, payment: Payment, shortfall: Shortfall): Promise<Receipt> {
  const { amount, share } = shortfall
  try {
    return await call.x402.settle(payment, call.payer.account, share && { ...share, amount })
  } catch (error) {
    if (!isApiError(error, 'payment_rejected')) throw error
    return offer(call, error, shortfall)
  }
}

async function rejectWithOffer(call: PayingCall, error: unknown): Promise<never> {
  const shortfall = shortfallOf(error)
  if (!shortfall || !(error instanceof ApiError)) throw error
  return offer(call, error, shortfall)
}

/**
 * Throws an error with an offer. A key whose daily cap forbids the call gets that error instead,
 * because paying would not help.
 */
async function offer(
  { ctx, x402, incoming, payer }: PayingCall,
  error: ApiError,
  { amount, spends, share }: Shortfall,
): Promise<never> {
  await checkDailyCap(ctx.db.read, payer.cap, spends, ctx.clock.now())
  const terms = await x402.termsFor(amount, incoming.resource, share)
  throw terms ? new OfferedError(error, createOffer(terms)) : error
}

/** Returns what a call is short of, where a payment can add it. */
export function shortfallOf(error: unknown): Shortfall | undefined {
  if (isApiError(error, 'payment_required')) {
    const [{ amount, share }] = error.details
    return { amount: nano(amount), spends: zero, ...(share && { share }) }
  }
  if (!isApiError(error, 'not_enough_credits')) return undefined
  const [{ needed, available }] = error.details
  return { amount: nano(needed - available), spends: nano(needed) }
}

/** Returns the header with the receipt of a call, if it has one. */
export const receiptOf = (
  { x402 }: AppContext,
  { receipt, paymentVersion }: RequestContext,
): [name: string, value: string] | undefined =>
  x402 && receipt && paymentVersion
    ? receiptHeader(x402.network, paymentVersion, receipt)
    : undefined

/** Returns the headers of a response to a call that was paid; none for another call. */
export function receiptHeaders(ctx: AppContext, context: RequestContext): Record<string, string> {
  const [name, value] = receiptOf(ctx, context) ?? []
  return name && value ? { [name]: value, 'cache-control': noCache } : {}
}
