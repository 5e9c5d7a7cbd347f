import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

import type { AppContext } from '../../../context.ts'
import { anywhere, fetchGuarded, type Network, NotFetched } from '../../../core/fetch.ts'
import { hour, minute, second } from '../../../core/time.ts'
import type { Handler, Outcome, JobRun } from '../../../jobs/handler.ts'
import { type Delivery, findDelivery, recordFailure, recordAttempt } from './deliveries.ts'
import { type Hook, markGone } from './hooks.ts'
import { signedHeaders } from './signing.ts'

const Input = Type.Object({ delivery: Type.String() })

/** Between a try and the next: eight tries, the last a day after the first. */
const waits = [5 * second, 5 * minute, 25 * minute, 90 * minute, 4 * hour, 6 * hour, 12 * hour]

/** What a receiver says is for nobody to read: its status counts, as soon as it is there. */
const bounds = { ms: 10 * second }

/**
 * Posts a delivery until its receiver answers 2xx, at most eight times. A receiver is only reached
 * at the address that was checked, never through a redirect, and has 10 s; 410 ends its hook.
 */
export const hookHandler = (ctx: AppContext, net?: Network): Handler<typeof Input> => ({
  queue: 'hooks',
  input: Input,
  data: Type.Null(),
  restarts: Infinity,
  run: (work) => run(ctx, work, net ?? (ctx.config.hooksToPrivate ? anywhere : undefined)),
  compensate: (db, { input, error }) =>
    Value.Check(Input, input)
      ? recordFailure(ctx, db, input.delivery, error?.code ?? 'cancelled')
      : Promise.resolve(),
})

async function run(
  ctx: AppContext,
  { input, signal, report: note }: JobRun<{ delivery: string }, unknown>,
  net: Network | undefined,
): Promise<Outcome> {
  const found = await findDelivery(ctx, input.delivery)
  if (!found || found.hook.gone !== null) {
    return { end: 'failed', error: { code: 'gone', error: 'The hook is gone.' } }
  }
  const { delivery, hook } = found
  const said = await post(ctx, hook, delivery, signal, net)
  const { status = null } = said
  const tries = delivery.tries + 1
  const wait = waits[tries - 1]
  const now = ctx.clock.now()
  const tried = { tries, status, problem: said.problem ?? null, next: null, ended: now }
  const isDelivered = status !== null && status >= 200 && status < 300
  if (!isDelivered && status !== 410 && wait !== undefined) {
    const later = { ...tried, state: 'waiting', next: now + wait, ended: null } as const
    await note({}, (db) => recordAttempt(db, delivery.id, later))
    return { end: 'again', afterMs: wait }
  }
  return {
    end: 'done',
    record: async (db) => {
      await recordAttempt(db, delivery.id, { ...tried, state: isDelivered ? 'delivered' : 'failed' })
      if (status === 410) await markGone(ctx, db, hook.id)
    },
  }
}

/** The status that a receiver answered, or why there is none. */
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
    if (error instanceof NotFetched) return { problem: error.why }
    const isLate = error instanceof Error && error.name === 'TimeoutError'
    return { problem: isLate ? 'timed_out' : 'unreachable' }
  }
}
