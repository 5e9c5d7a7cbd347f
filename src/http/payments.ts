import type { AppContext } from '../context.ts'
import { recordOf } from '../core/schema.ts'
import { isApiError } from '../errors.ts'
import * as gateway from '../gateway/error-response.ts'
import { publicPathOf } from '../gateway/openrouter/error-response.ts'
import * as hosting from '../hosting/error-response.ts'
import { capOf } from '../keys/keys.ts'
import { agentAccount } from '../ledger/accounts.ts'
import { type Cap, checkDailyCap } from '../ledger/caps.ts'
import { createOffer, type Receipt, receiptHeader } from '../payments/x402/offer.ts'
import {
  authorizationName,
  hasPayment,
  type Payment,
  readPayment,
} from '../payments/x402/payload.ts'
import type { PaymentRow } from '../payments/x402/rows.ts'
import type { X402 } from '../payments/x402/x402.ts'
import type { Policy } from './middleware.ts'
import {
  pathOf,
  type RequestContext,
  setRequestContext,
  type Shortfall,
} from './request-context.ts'

/** The differences between the APIs for payments. */
interface PaidApi {
  /** Returns the response to any error, in the envelope of the API. */
  errorResponse(error: unknown, requestId: string): Response
  /** Returns the public URL of a path inside the server. */
  urlOf(urls: AppContext['urls'], path: string): string
}

export const agentApiPayments: PaidApi = {
  errorResponse: (error, id) =>
    hosting.errorResponse(error, () => hosting.internalErrorResponse(id)),
  urlOf: ({ base }, path) => base + path.slice('/api'.length),
}
export const gatewayPayments: PaidApi = {
  errorResponse: (error, id) =>
    gateway.errorResponse(error, () => gateway.internalErrorResponse(id, error)),
  urlOf: ({ gateway: base }, path) => base + publicPathOf(path),
}

/** The payer of a request: an agent, with the cap of its key. */
interface Payer {
  account: PaymentRow['account']
  cap: Cap
}

function payerOf({ caller, spender }: RequestContext): Payer | undefined {
  if (caller) return { account: agentAccount(caller.agent.id), cap: capOf(caller.key) }
  return spender?.owner.kind === 'agent' ? spender : undefined
}

/**
 * Adds payments by x402 to all operations of an API (docs/spec/payments.md, "x402"). A 402 that
 * money can solve offers the smallest payment. A request with a payment runs; where it is short of
 * credits, the payment is settled and credited, and the request runs again from the credits.
 */
export function withPayments(ctx: AppContext, api: PaidApi, next: Policy): Policy {
  const { x402 } = ctx
  if (!x402) return next
  return async (request, context) => {
    try {
      const run = hasPayment(request.headers) ? runPaid : runUnpaid
      return await run({ ctx, x402, api, next, request, context })
    } catch (error) {
      const response = api.errorResponse(error, context.id)
      if (response.status === 500) ctx.log.error('unexpected', error, { id: context.id })
      return response
    }
  }
}

interface Call {
  ctx: AppContext
  x402: X402
  api: PaidApi
  next: Policy
  request: Request
  context: RequestContext
}

/** Runs a request without a payment, and adds the offer to its 402. */
async function runUnpaid(call: Call): Promise<Response> {
  const response = await call.next(call.request, call.context)
  return call.context.shortfall ? addOffer(call, response) : response
}

/** Runs a request with a payment, which is settled only where the request is short of credits. */
async function runPaid(call: Call): Promise<Response> {
  const { ctx, x402, next, context } = call
  const payment = readPayment(call.request.headers)
  const [first, second] = repeatable(call.request, authorizationName(x402.network.id, payment))
  for (const request of [first, second]) setRequestContext(request, context)
  const response = await next(first, context)
  const payer = payerOf(context)
  const { shortfall } = context
  if (!shortfall || !payer) {
    void second.body?.cancel()
    const receipt = payer && (await x402.findReceipt(payment, payer.account))
    return receipt ? addReceipt(call, payment, response, receipt) : response
  }
  await checkDailyCap(ctx.db.read, payer.cap, shortfall.spends, ctx.clock.now())
  const receipt = await settle(call, payment, { payer, shortfall })
  if (receipt instanceof Response) return receipt
  context.receipt = receipt
  context.shortfall = undefined
  const paid = await next(second, context)
  return addReceipt(call, payment, context.shortfall ? await addOffer(call, paid) : paid, receipt)
}

/** Settles a payment. Returns the 402 with a new offer where the payment is rejected. */
async function settle(
  call: Call,
  payment: Payment,
  { payer, shortfall }: { payer: Payer; shortfall: Shortfall },
): Promise<Receipt | Response> {
  const { amount, share } = shortfall
  try {
    return await call.x402.settle(payment, payer.account, share && { ...share, amount })
  } catch (error) {
    if (!isApiError(error, 'payment_rejected')) throw error
    return addOffer(call, call.api.errorResponse(error, call.context.id))
  }
}

/** Returns two requests with the body of one. The payment names them, where nothing else does. */
function repeatable(request: Request, name: string): [Request, Request] {
  const headers = new Headers(request.headers)
  if (!headers.has('idempotency-key')) headers.set('idempotency-key', name)
  const { url, method, signal } = request
  const [body, again] = request.body?.tee() ?? [null, null]
  return [
    new Request(url, { method, headers, signal, body }),
    new Request(url, { method, headers, signal, body: again }),
  ]
}

/**
 * Adds the offer to a 402. A key whose daily cap forbids the call gets that error instead, because
 * paying would not help.
 */
async function addOffer(call: Call, response: Response): Promise<Response> {
  const { ctx, x402, api, request, context } = call
  const { shortfall } = context
  const payer = payerOf(context)
  if (!payer || !shortfall) return response
  await checkDailyCap(ctx.db.read, payer.cap, shortfall.spends, ctx.clock.now())
  const resource = api.urlOf(ctx.urls, pathOf(request.url))
  const terms = await x402.termsFor(shortfall.amount, resource, shortfall.share)
  if (!terms) return response
  const body = recordOf(await response.json())
  const { fields, header } = createOffer(terms)
  const headers = new Headers(response.headers)
  headers.delete('content-length')
  headers.set('payment-required', header)
  headers.set('cache-control', noCache)
  const advice = body['code'] === 'not_enough_credits' && { error: `${body['error']} ${payAdvice}` }
  return Response.json({ ...body, ...advice, ...fields }, { status: response.status, headers })
}

const payAdvice = 'Or pay one of "accepts" with x402, and send the request again with the payment.'

function addReceipt(
  { x402 }: Call,
  { version }: Payment,
  response: Response,
  receipt: Receipt,
): Response {
  response.headers.set(...receiptHeader(x402.network, version, receipt))
  response.headers.set('cache-control', noCache)
  return response
}

const noCache = 'no-store, private'
