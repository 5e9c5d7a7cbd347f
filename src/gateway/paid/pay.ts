import type { AppContext } from '../../context.ts'
import { ApiError, type GatewayErrorName } from '../../errors.ts'
import type { Answer } from '../../idempotency/idempotency.ts'
import { withHold } from '../../ledger/paid-work.ts'
import { worstCase } from '../../models/charge.ts'
import type { Call } from '../call.ts'
import type { Spender } from '../key.ts'
import { ofPaying, ofServing } from '../operation.ts'
import { askFor } from './bill.ts'
import { type Candidate, type Candidates, candidatesOf, findModels } from './candidates.ts'
import { jsonOf, respondOnce } from './once.ts'
import { runPaid } from './running.ts'
import { type MediaOrder, serve, type Wanted } from './serving.ts'

/**
 * Paid work other than chat's (document 2, sections 4 and 7): model, price, worst case, hold,
 * upstream with its deadline and fallbacks, settled once with its row in the history. Refuses what
 * section 7 says.
 */
export function pay(
  ctx: AppContext,
  spender: Spender,
  wanted: Wanted,
  call: Call,
): Promise<Response> {
  const { path, same, kind, part, present = jsonOf } = wanted
  const request = { path, body: same }
  const shown = (answer: Answer) => (answer.status === 200 ? present(answer) : jsonOf(answer))
  return respondOnce(ctx, spender, call, { request, present: shown }, (running) => {
    const candidates = reachable(ctx, wanted)
    return runPaid(ctx, spender, running, request, (paid) => {
      const order: MediaOrder = { ...running, ctx, spender, wanted, candidates, paid }
      const ask = askFor(order, worstOf(candidates, wanted.most), kind, part)
      return withHold(ctx, ask, (hold) => serve(order, hold))
    })
  })
}

/** Where a request can be served, in the order that is tried. Refuses what findModels does. */
export function reachable(
  { catalogue, upstreams }: AppContext,
  wanted: Pick<Wanted, 'modelIds' | 'type' | 'preferences' | 'check'>,
): Candidates {
  const { modelIds, type, preferences } = wanted
  const found = findModels(catalogue, modelIds, type)
  for (const { model, suffixes } of found) {
    // Only a chat is answered in rounds, which a search is.
    if (suffixes.includes('online')) throw new ApiError('model_cannot_search', { model: model.id })
    wanted.check?.(model)
  }
  return candidatesOf(found, preferences, upstreams.speeds)
}

/** The worst case over all candidates: whichever serves, its charge fits the hold. */
export function worstOf([first, ...rest]: Candidates, most: Wanted['most']) {
  const of = ({ model, price }: Candidate) => ({ price, amount: worstCase(price, most(model)) })
  return rest.map(of).reduce((worst, one) => (one.amount > worst.amount ? one : worst), of(first))
}

/** What each of these operations can be refused with, in the order of section 7. */
export const paidRefusals: GatewayErrorName[] = [
  'bad_request',
  'no_rate',
  'model_cannot_search',
  'not_enough_credits',
  'no_model',
  'daily_cap',
  ...ofServing,
  ...ofPaying,
]
