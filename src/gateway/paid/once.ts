import type { AppContext } from '../../context.ts'
import { inDigits } from '../../core/money.ts'
import { recordOf } from '../../core/schema.ts'
import type { Answer, KeepAnswer } from '../../idempotency/idempotency.ts'
import type { Call } from '../call.ts'
import { final } from '../envelope.ts'
import type { Spender } from '../key.ts'
import { endExpired } from '../usage/expired.ts'

/** A paid call while it runs. */
export interface Running extends Call {
  keep: KeepAnswer
  /** Where its answer is kept for the same Idempotency-Key. */
  slot: string | undefined
  /** Gives the client a response that goes on with the work: the answer is not given then. */
  begin(response: Response): void
}

interface Asked {
  /** What makes it the same request again. */
  request: unknown
  /** An answer as a response, the first time and every other. */
  present(answer: Answer): Response | Promise<Response>
}

/**
 * The response to paid work that is done once under its Idempotency-Key. What the process before
 * this one died over is ended first: who comes again at once must find that it was charged.
 */
export function respondOnce(
  ctx: AppContext,
  { account }: Spender,
  call: Call,
  { request, present }: Asked,
  work: (call: Running) => Promise<Answer>,
): Promise<Response> {
  const { promise, resolve: begin, reject } = Promise.withResolvers<Response>()
  const respond = async (): Promise<void> => {
    if (call.ref !== undefined) await ctx.state.expiredHolds.get(() => endExpired(ctx))
    const answer = await ctx.idempotency.once(account, call.ref, request, (keep, slot) =>
      work({ ...call, keep, slot, begin }),
    )
    if (answer.body !== null) begin(await present(answer))
  }
  respond().catch(reject)
  return promise
}

/** A JSON answer with its cost as a header; a failure that was charged, as the first time. */
export function jsonOf({ status, body }: Answer): Response {
  const { usage, cost } = recordOf(body)
  const headers = status === 200 ? costHeader(Number(recordOf(usage).cost ?? cost)) : final
  return Response.json(body, { status, headers })
}

/** X-Service-Cost: USD as plain digits, to the billionth. */
export const costHeader = (cost: number): { 'x-service-cost': string } => ({
  'x-service-cost': inDigits(cost),
})
