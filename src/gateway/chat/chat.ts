import { inDigits, zero } from '../../core/money.ts'
import { isRecord } from '../../core/shape.ts'
import type { House } from '../../house.ts'
import type { Answer, KeepAnswer } from '../../idempotency/idempotency.ts'
import type { Ask } from '../../ledger/ledger.ts'
import { withHold } from '../../ledger/paid-work.ts'
import { storedPrice } from '../../models/price.ts'
import { Refusal } from '../../refusals.ts'
import type { Call } from '../call.ts'
import type { Spender } from '../key.ts'
import { once } from '../once.ts'
import { holdMs, holdRef } from '../usage/expired.ts'
import type { Order } from './account.ts'
import { type Asked, type Fitted, readAsked } from './asked.ts'
import { candidatesOf, findModels } from './candidates.ts'
import { checkFits, checkWindow } from './fits.ts'
import { paidCallsOf } from './running.ts'
import { checkSearch } from './search/check.ts'
import { serveStream, streamResponse } from './streamed.ts'
import { checkInlinePdfs, type Hear, type Unheard, withUploads } from './uploads.ts'
import { serveWhole } from './whole.ts'
import { worstOf } from './worst.ts'

/** How uploaded sounds are heard, where a model listens; that work is paid on its own. */
export type Listener = (spender: Spender, call: Call) => Hear | undefined

/**
 * A chat completion (document 2, POST /chat/completions): checked in the order of section 7, its
 * worst case held, served plain or streamed, settled once. Refuses what section 7 says.
 */
export function complete(
  house: House,
  spender: Spender,
  raw: unknown,
  call: Call,
  listener: Listener,
): Promise<Response> {
  const request = { path: '/chat/completions', body: raw }
  return new Promise((begin, refuse) => {
    once(house, spender.account, call.ref, request, (keep, slot) =>
      run(house, spender, raw, { ...call, keep, slot, begin }, listener),
    )
      .then((answer) => begin(responseOf(answer)))
      .catch(refuse)
  })
}

/** An answer as a response, the first time and every other. */
function responseOf({ status, body }: Answer): Response {
  if (isRecord(body) && typeof body.stream === 'string') return streamResponse(body.stream)
  const usage = isRecord(body) && isRecord(body.usage) ? body.usage : {}
  const headers =
    typeof usage.cost === 'number' ? { 'x-service-cost': inDigits(usage.cost) } : finalHeaders
  return Response.json(body, { status, headers })
}

const finalHeaders = { 'x-should-retry': 'false' }

interface Run extends Call {
  keep: KeepAnswer
  slot: string | undefined
  begin(response: Response): void
}

async function run(
  house: House,
  spender: Spender,
  raw: unknown,
  call: Run,
  listener: Listener,
): Promise<Answer> {
  const { open, failures } = paidCallsOf(house)
  const { asked, heard, candidates } = await prepare(house, spender, raw, call, listener)
  const { caller } = spender
  failures.check(caller, raw)
  const { requestId, slot, signal, keep } = call
  const order: Order = {
    house,
    spender,
    asked,
    heard,
    candidates,
    requestId,
    signal,
    keep,
    slot,
    searching: undefined,
  }
  const done = open.begin(caller)
  const { promise: paid, resolve: tell } = Promise.withResolvers<void>()
  try {
    const client = { begin: call.begin, paid }
    const { result, hold } = await withHold(house, askOf(order), (made) =>
      asked.stream ? serveStream(order, made, client) : serveWhole(order, made),
    )
    if (result.answer) return result.answer
    if (hold.charged > 0n) failures.keep(caller, raw, result.refusal)
    throw result.refusal
  } finally {
    tell()
    done()
  }
}

/** Everything that is checked before credits are (document 2, section 7). */
async function prepare(
  house: House,
  spender: Spender,
  raw: unknown,
  call: Run,
  listener: Listener,
): Promise<Pick<Order, 'asked' | 'heard' | 'candidates'>> {
  const { config, catalogue, upstreams } = house
  const developer = config.gatewayDeveloperRole === 'system' ? 'system' : undefined
  const read = readAsked(raw, developer)
  const wanted = findModels(catalogue, read.modelIds, 'chat')
  const models = wanted.map(({ model }) => model)
  const [first, ...rest] = candidatesOf(wanted, read.preferences, (upstream, model) =>
    upstreams.speeds.of(upstream, model),
  )
  if (!first) throw new Refusal('model_unavailable')
  const search = read.search || wanted.some(({ suffixes }) => suffixes.includes('online'))
  if (search) {
    checkSearch(house.searcher, read, models, paidCallsOf(house).searches, spender.account)
  }
  for (const model of models) checkFits(read, model)
  await checkInlinePdfs(house, spender.account, read)
  const whole = { ...read, search }
  const hear = () => listener(spender, call)
  const filled = await withUploads(house, spender.account, whole, models, hear)
  const fitted = (asked: Asked): Fitted => {
    for (const model of models) checkWindow(asked, model)
    const { body, stream, wantsUsage, choices, outputMax } = asked
    return { body, stream, wantsUsage, choices, outputMax, search }
  }
  const candidates: Order['candidates'] = [first, ...rest]
  const asked = fitted(filled.asked)
  const { unheard } = filled
  if (!unheard) return { asked, heard: zero, candidates }
  const least = askOf({ house, spender, asked, candidates, ...call })
  const told = await hearHolding(house, least, unheard)
  return { asked: fitted(told.asked), heard: told.cost, candidates }
}

/** Hears sounds while the least that their chat can cost is held: without that nothing is paid. */
async function hearHolding(house: House, least: Ask, { sounds, hear }: Unheard) {
  const ask = { ...least, ref: `sounds of ${least.ref}`, ms: sounds * least.ms }
  const { result } = await withHold(house, { ...ask, onExpiry: 'release' }, async () => ({
    result: await hear(),
    charge: zero,
  }))
  return result
}

type Priced = Pick<Order, 'house' | 'spender' | 'asked' | 'candidates' | 'requestId' | 'slot'>

function askOf({ house, spender, asked, candidates, requestId, slot }: Priced): Ask {
  const { amount, price } = worstOf(asked, candidates)
  const { account, cap, funds } = spender
  return {
    account,
    amount,
    ref: holdRef(['chat', requestId], slot),
    kind: 'chat',
    item: candidates[0].model.id,
    funds,
    price: storedPrice(price),
    cap,
    onExpiry: 'settle',
    ms: holdMs(house),
  }
}
