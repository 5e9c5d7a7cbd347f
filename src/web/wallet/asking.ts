import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

import type { AppContext } from '../../context.ts'
import { fromUsd, inWords, toCredits, toUsd, zero } from '../../core/money.ts'
import { oneOf } from '../../core/schema.ts'
import { ApiError, type GatewayErrorName } from '../../errors.ts'
import { errorAnswer, isOurs, wordsOf } from '../../gateway/envelope.ts'
import { spenderOf } from '../../gateway/key.ts'
import { historyOf } from '../../gateway/usage/usage.ts'
import { walletOf } from '../../hosting/people/people.ts'
import { callerAddress, requestContextOf } from '../../http/request-context.ts'
import { accountOf, type Owner } from '../../ledger/accounts.ts'
import * as ledger from '../../ledger/ledger.ts'
import { playTurnsMax } from '../../limits.ts'
import { inCredits, inUsd } from '../amounts.ts'
import type { Own } from '../people/desk.ts'
import { type Form, refuse } from '../people/form.ts'
import { ownWords, type Words } from '../words.ts'
import { lasted } from './parts.ts'

/** What was said in a playground: by the person, or by a model, with what that came to. */
const Turn = Type.Object(
  {
    role: oneOf(['user', 'assistant']),
    content: Type.String(),
    told: Type.Optional(Type.String()),
  },
  { additionalProperties: false },
)
export type Turn = Static<typeof Turn>
const Turns = Type.Array(Turn, { maxItems: playTurnsMax })

/** A playground's form as it was sent; a conversation that is not ours is undefined. */
export interface Draft {
  model: string
  system: string
  max_tokens: string
  turns: Turn[] | undefined
  text: string
}

export const draftOf = (form: Form): Draft => ({
  model: form.text('model'),
  system: form.text('system'),
  max_tokens: form.text('max_tokens').trim(),
  turns: turnsIn(form.text('turns')),
  text: form.text('text'),
})

function turnsIn(text: string): Turn[] | undefined {
  try {
    const turns: unknown = JSON.parse(text)
    return Value.Check(Turns, turns) ? turns : undefined
  } catch {
    return undefined
  }
}

/** A draft as a chat request (document 2, POST /chat/completions). Refuses bad_request. */
function requestOf({ model, system, max_tokens, turns, text }: Draft, stream: boolean) {
  if (!turns || turns.length > playTurnsMax - 2) {
    refuse(`A conversation here has at most ${playTurnsMax} messages. Begin a new one.`)
  }
  const most = Number(max_tokens)
  if (max_tokens !== '' && !(Number.isSafeInteger(most) && most > 0)) {
    refuse('“At most” is a whole number of tokens, 1 or more.')
  }
  const said = turns.map(({ role, content }) => ({ role, content }))
  return {
    model,
    messages: [
      ...(system.trim() === '' ? [] : [{ role: 'system', content: system }]),
      ...said,
      { role: 'user', content: text },
    ],
    ...(max_tokens !== '' && { max_tokens: most }),
    ...(stream && { stream }),
  }
}

/** What a person is told where the gateway's sentence speaks of its fields, and in USD. */
const words: Words<GatewayErrorName> = {
  not_enough_credits: ({ needed, available }) =>
    `This can cost ${inWords(needed)} credits and your wallet has ${inWords(available)}. Nothing ` +
    'was charged. Lower “At most”, or add credits: your wallet’s page says how.',
  no_model: ({ model }) => `The model ${model.slice(0, 100)} is not served here. Choose another.`,
}

/** A refusal as the gateway answers it, in a person's words. */
function refused(refusal: ApiError<GatewayErrorName>): Response {
  const { status, headers, body } = wordsOf(refusal)
  const message = ownWords(words, refusal) ?? body.error.message
  return Response.json({ error: { ...body.error, message } }, { status, headers })
}

/** No page sends files, so there are no sounds to be heard. */
const noSounds = () => undefined

/**
 * What the gateway answers to a draft, or why not, in words of the page: the chat of document 2,
 * within the address's rate, held and settled on the wallet of who is signed in.
 */
export async function answerTo(own: Own, draft: Draft, stream: boolean): Promise<Response> {
  const { ctx, request, visitor } = own
  const { id: requestId } = requestContextOf(request)
  try {
    const { gatewayRequests: rate } = ctx
    const retryAfter = rate.take(callerAddress(request))
    if (retryAfter !== undefined) throw new ApiError('rate_limited', { max: rate.max, retryAfter })
    const asked = requestOf(draft, stream)
    // A start of the house does not wait for the gateway.
    const { complete } = await import('../../gateway/chat/chat.ts')
    const call = { requestId, ref: undefined, signal: request.signal }
    return await complete(ctx, spenderOf(walletOf(visitor.person)), asked, call, noSounds)
  } catch (error) {
    if (isOurs(error)) return refused(error)
    return errorAnswer(error, () => {
      throw error
    })
  }
}

/** Among so many of the newest requests of a wallet is the one that was just answered. */
const newest = 100

/** What a request came to, in words, and what it left. */
export interface Told {
  told: string
  left: string
}

/** What a request of a wallet came to, once it is settled. */
export async function toldOf(
  ctx: AppContext,
  owner: Owner,
  requestId: string,
): Promise<Told | undefined> {
  const { data } = await historyOf(ctx, accountOf(owner), { page_count: newest })
  const use = data.find(({ request_id }) => request_id === requestId)
  if (!use) return undefined
  const amount = fromUsd(use.price_in_usd.toFixed(9)) ?? zero
  const words = [
    use.model,
    `tokens: ${use.input_count} in, ${use.output_count} out${use.estimated ? ' (our count)' : ''}`,
    `${inCredits(toCredits(amount))} credits, ${inUsd(toUsd(amount))}`,
    lasted(use.ms),
    ...(use.status === 'interrupted' ? ['stopped early'] : []),
    ...(use.status === 'failed' ? ['failed'] : []),
  ]
  return { told: words.join(' · '), left: leftIn(await ledger.balanceOf(ctx, owner)) }
}

/** What a wallet has to spend, in words. */
export const leftIn = ({ available }: { available: bigint }): string =>
  `${inCredits(toCredits(available))} credits`
