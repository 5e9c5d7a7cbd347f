import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

import type { Handler, JobRun, Outcome } from '../../../jobs/handlers.ts'
import type { AppContext } from '../../../kernel/context.ts'
import { anyNetwork, fetchGuarded, GuardedFetchError, type Network } from '../../../kernel/fetch.ts'
import { hour, minute, second } from '../../../kernel/time.ts'
import { type Delivery, findDelivery, recordAttempt, recordFailure } from './deliveries.ts'
import { type Hook, markGone } from './hooks.ts'
import { signedHeaders } from './signing.ts'

const Input = Type.Object({ delivery: Type.String() })

/** The waits between eight attempts; the last attempt is a day after the first. */
const waits = [5 * second, 5 * minute, 25 * minute, 90 * minute, 4 * hour, 6 * hour, 12 * hour]

/** Only the status of a response counts. The body is not read. */
const bounds = { ms: 10 * second }

/**
 * Posts a delivery until the receiver responds with 2xx, at most eight times. Each attempt takes at
 * most 10 s, connects to the address that was checked and follows no redirect. 410 ends the hook.
 */
export const hookHandler = (ctx: AppContext, net?: Network): Handler<typeof Input> => ({
  input: Input,
  data: Type.Null(),
  restarts: Infinity,
  run: (job) => run(ctx, job, net ?? (ctx.config.hooksToPrivate ? anyNetwork : undefined)),
  compensate: async (db, { input, error }) => {
    if (!Value.Check(Input, input)) return
    await recordFailure(ctx, db, input.delivery, error?.code ?? 'cancelled')
  },
})

async function run(
  ctx: AppContext,
  { input, signal, report }: JobRun<{ delivery: string }, unknown>,
  net: Network | undefined,
): Promise<Outcome> {
  const found = await findDelivery(ctx, input.delivery)
  if (!found || found.hook.gone !== null) {
    return {
      end: 'failed',
      error: { code: 'gone', error: 'The webhook was deleted or is gone. Create it again.' },
    }
  }
  const { delivery, hook } = found
  const { status = null, problem = null } = await post(ctx, hook, delivery, signal, net)
  const tries = delivery.tries + 1
  const wait = waits[tries - 1]
  const now = ctx.clock.now()
  const attempt = { tries, status, problem, next: null, ended: now }
  const isDelivered = status !== null && status >= 200 && status < 300
  if (!isDelivered && status !== 410 && wait !== undefined) {
    const retry = { ...attempt, state: 'waiting', next: now + wait, ended: null } as const
    await report({}, (db) => recordAttempt(db, delivery.id, retry))
    return { end: 'again', afterMs: wait }
  }
  const state = isDelivered ? 'delivered' : 'failed'
  return {
    end: 'done',
    record: async (db) => {
      await recordAttempt(db, delivery.id, { ...attempt, state })
      if (status === 410) await markGone(ctx, db, hook.id)
    },
  }
}

/** Returns the status of the response, or why there is none. */
async function post(
  ctx: AppContext,
  { id: hook, url }: Hook,
  { note, body }: Delivery,
  signal: AbortSignal,
  net: Network | undefined,
): Promise<{ status?: number; problem?: string }> {
  const headers = signedHeaders(ctx, { hook, note, body }, ctx.clock.now())
  try {
    const init = { method: 'POST', headers, body }
    const { status } = await fetchGuarded(url, init, bounds, signal, net)
    return { status }
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof GuardedFetchError) return { problem: error.reason }
    const isTimeout = error instanceof Error && error.name === 'TimeoutError'
    return { problem: isTimeout ? 'timed_out' : 'unreachable' }
  }
}
