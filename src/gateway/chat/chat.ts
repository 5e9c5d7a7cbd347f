import type { AppContext } from '../../context.ts'
import { zero } from '../../core/money.ts'
import { recordOf } from '../../core/schema.ts'
import type { Answer } from '../../idempotency/idempotency.ts'
import type { Ask } from '../../ledger/ledger.ts'
import { withHold } from '../../ledger/paid-work.ts'
import type { Call } from '../call.ts'
import type { Spender } from '../key.ts'
import { askFor } from '../paid/bill.ts'
import { candidatesOf, findModels } from '../paid/candidates.ts'
import { jsonOf, respondOnce, type Running } from '../paid/once.ts'
import { paidCallsOf, runPaid } from '../paid/running.ts'
import { type Asked, type Fitted, readAsked } from './asked.ts'
import { checkFits, checkWindow, fitting } from './fits.ts'
import type { ChatOrder } from './order.ts'
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
  ctx: AppContext,
  spender: Spender,
  raw: unknown,
  call: Call,
  listener: Listener,
): Promise<Response> {
  const request = { path: '/chat/completions', body: raw }
  return respondOnce(ctx, spender, call, { request, present }, async (running) => {
    const prepared = await prepare(ctx, spender, raw, running, listener)
    return runPaid(ctx, spender, running, raw, (paid) => {
      const order: ChatOrder = { ...running, ...prepared, ctx, spender, paid }
      const serve = order.asked.stream ? serveStream : serveWhole
      return withHold(ctx, chatAsk(order), (hold) => serve(order, hold))
    })
  })
}

/** An answer as a response, the first time and every other. */
function present(answer: Answer): Response {
  const { stream } = recordOf(answer.body)
  return typeof stream === 'string' ? streamResponse(stream) : jsonOf(answer)
}

/** Everything that is checked before credits are (document 2, section 7). */
async function prepare(
  ctx: AppContext,
  spender: Spender,
  raw: unknown,
  call: Running,
  listener: Listener,
): Promise<Pick<ChatOrder, 'asked' | 'heard' | 'candidates'>> {
  const { config, catalogue, upstreams } = ctx
  const developer = config.gatewayDeveloperRole === 'system' ? 'system' : undefined
  const read = readAsked(raw, developer)
  const wanted = fitting(read, findModels(catalogue, read.modelIds, 'chat'))
  const models = wanted.map(({ model }) => model)
  const candidates = candidatesOf(wanted, read.preferences, upstreams.speeds)
  const search = read.search || wanted.some(({ suffixes }) => suffixes.includes('online'))
  if (search) {
    checkSearch(ctx.searcher, read, models, paidCallsOf(ctx).searches, spender.account)
  }
  // Of the others, those are left that take it.
  const [first] = models
  if (first) checkFits(read, first)
  await checkInlinePdfs(ctx, spender.account, read)
  const whole = { ...read, search }
  const hear = () => listener(spender, call)
  const filled = await withUploads(ctx, spender.account, whole, models, hear)
  const fitted = (asked: Asked): Fitted => {
    for (const model of models) checkWindow(asked, model)
    const { body, stream, wantsUsage, choices, outputMax } = asked
    return { body, stream, wantsUsage, choices, outputMax, search }
  }
  const asked = fitted(filled.asked)
  const { unheard } = filled
  if (!unheard) return { asked, heard: zero, candidates }
  const least = chatAsk({ ctx, spender, asked, candidates, ...call })
  const told = await hearHolding(ctx, least, unheard)
  return { asked: fitted(told.asked), heard: told.cost, candidates }
}

/** Hears sounds while the least that their chat can cost is held: without that nothing is paid. */
async function hearHolding(ctx: AppContext, least: Ask, { sounds, hear }: Unheard) {
  const ask = { ...least, ref: `sounds of ${least.ref}`, ms: sounds * least.ms }
  const { result } = await withHold(ctx, { ...ask, onExpiry: 'release' }, async () => ({
    result: await hear(),
    charge: zero,
  }))
  return result
}

const chatAsk = (order: Parameters<typeof askFor>[0] & Pick<ChatOrder, 'asked'>): Ask =>
  askFor(order, worstOf(order.asked, order.candidates), 'chat')
