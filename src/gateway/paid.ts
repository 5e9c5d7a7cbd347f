import { inDigits } from '../core/money.ts'
import { isRecord } from '../core/shape.ts'
import type { House } from '../house.ts'
import type { Answer } from '../idempotency/idempotency.ts'
import type { Ask } from '../ledger/ledger.ts'
import { withHold } from '../ledger/paid-work.ts'
import { worstCase } from '../models/charge.ts'
import { storedPrice } from '../models/price.ts'
import { Refusal } from '../refusals.ts'
import type { Call } from './call.ts'
import { type Candidate, candidatesOf, findModels } from './chat/candidates.ts'
import { paidCallsOf } from './chat/running.ts'
import type { Spender } from './key.ts'
import { once } from './once.ts'
import { type Order, serve, type Wanted } from './serving.ts'
import { holdMs, holdRef } from './usage/expired.ts'

/**
 * Paid work other than chat's (document 2, sections 4 and 7): model, price, worst case, hold,
 * upstream with its deadline and fallbacks, settled once with its row in the history. Refuses what
 * section 7 says.
 */
export function pay(house: House, spender: Spender, wanted: Wanted, call: Call): Promise<Response> {
  const answered = Promise.withResolvers<Response>()
  const present = wanted.present ?? jsonOf
  const request = { path: wanted.path, body: wanted.same }
  once(house, spender.account, call.ref, request, (keep, slot) =>
    run(house, spender, wanted, { ...call, keep, slot, begin: answered.resolve }),
  )
    .then(async (answer) => answered.resolve(await refusedOr(answer, present)))
    .catch(answered.reject)
  return answered.promise
}

/** A failure that was charged is given again as any other answer is. */
const refusedOr = async (
  answer: Answer,
  present: (answer: Answer) => Promise<Response>,
): Promise<Response> => {
  if (answer.status === 200) return present(answer)
  const headers = { 'x-should-retry': 'false' }
  return Response.json(answer.body, { status: answer.status, headers })
}

/** A JSON answer, with its cost as a header. */
async function jsonOf({ body }: Answer): Promise<Response> {
  const usage = isRecord(body) && isRecord(body.usage) ? body.usage : {}
  const cost = isRecord(body) ? (body.cost ?? usage.cost) : undefined
  return Response.json(body, { headers: costHeader(Number(cost)) })
}

/** X-Service-Cost: USD as plain digits, to the billionth. */
export const costHeader = (cost: number): { 'x-service-cost': string } => ({
  'x-service-cost': inDigits(cost),
})

async function run(
  house: House,
  spender: Spender,
  wanted: Wanted,
  call: Call & Pick<Order, 'keep' | 'slot' | 'begin'>,
): Promise<Answer> {
  const { open, failures } = paidCallsOf(house)
  const candidates = reachable(house, wanted)
  const { caller } = spender
  const same = { path: wanted.path, body: wanted.same }
  failures.check(caller, same)
  const paid = Promise.withResolvers<void>()
  const order: Order = { house, spender, wanted, candidates, ...call, paid: paid.promise }
  const done = open.begin(caller)
  try {
    const { result, hold } = await withHold(house, askOf(order), (made) => serve(order, made))
    if (result.answer) return result.answer
    if (hold.charged > 0n) failures.keep(caller, same, result.refusal)
    throw result.refusal
  } finally {
    paid.resolve()
    done()
  }
}

/** Where a request can be served, in the order that is tried. Refuses what findModels does. */
export function reachable(
  { catalogue, upstreams }: House,
  wanted: Pick<Wanted, 'modelIds' | 'type' | 'preferences' | 'check'>,
): Order['candidates'] {
  const { modelIds, type, preferences } = wanted
  const found = findModels(catalogue, modelIds, type)
  for (const { model, suffixes } of found) {
    // Only a chat is answered in rounds, which a search is.
    if (suffixes.includes('online')) throw new Refusal('model_cannot_search', { model: model.id })
    wanted.check?.(model)
  }
  const [first, ...rest] = candidatesOf(found, preferences, (upstream, model) =>
    upstreams.speeds.of(upstream, model),
  )
  if (!first) throw new Refusal('model_unavailable')
  return [first, ...rest]
}

/** The worst case over all candidates: whichever serves, its charge fits the hold. */
export function worstOf([first, ...rest]: Order['candidates'], most: Wanted['most']) {
  const of = ({ model, price }: Candidate) => ({ price, amount: worstCase(price, most(model)) })
  return rest.map(of).reduce((worst, one) => (one.amount > worst.amount ? one : worst), of(first))
}

function askOf({ house, spender, wanted, candidates, requestId, slot }: Order): Ask {
  const worst = worstOf(candidates, wanted.most)
  const { account, cap, funds } = spender
  return {
    ...{ account, funds, cap, amount: worst.amount, price: storedPrice(worst.price) },
    ref: holdRef([wanted.kind, requestId, ...(wanted.part ? [wanted.part] : [])], slot),
    kind: wanted.kind,
    item: candidates[0].model.id,
    onExpiry: 'settle',
    ms: holdMs(house),
  }
}

/** What each of these operations can be refused with, in the order of section 7. */
export const paidRefusals = [
  ...([
    'bad_request',
    'no_rate',
    'model_cannot_search',
    'not_enough_credits',
    'no_model',
    'daily_cap',
  ] as const),
  ...(['model_unavailable', 'gateway_unavailable', 'upstream_busy', 'content_policy'] as const),
  ...(['upstream_failed', 'upstream_refused', 'no_content', 'unreadable', 'deadline'] as const),
  ...(['too_large', 'holds_limit', 'ref_conflict', 'busy', 'try_again'] as const),
] as const
