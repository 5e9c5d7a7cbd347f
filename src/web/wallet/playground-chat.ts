import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

import type { AppContext } from '../../context.ts'
import { fromUsd, inWords, toCredits, toUsd, zero } from '../../core/money.ts'
import { oneOf } from '../../core/schema.ts'
import { ApiError, type GatewayErrorName } from '../../errors.ts'
import { spenderOf } from '../../gateway/authentication.ts'
import { errorEnvelope, errorResponse, isGatewayError } from '../../gateway/envelope.ts'
import { listHistory } from '../../gateway/usage/history.ts'
import { walletOf } from '../../hosting/people/people.ts'
import { callerAddress, getRequestContext } from '../../http/request-context.ts'
import { accountOf, type Owner } from '../../ledger/accounts.ts'
import * as ledger from '../../ledger/ledger.ts'
import { playTurnsMax } from '../../limits.ts'
import { formatCredits, formatUsd } from '../format.ts'
import { rejectForm, type SubmittedForm } from '../forms.ts'
import { findMessage, type Messages } from '../messages.ts'
import type { SignedInRequest } from '../session.ts'
import { formatDuration } from './parts.ts'

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
const TurnsSchema = Type.Array(Turn, { maxItems: playTurnsMax })

/** A playground's form as it was sent; a conversation that is not ours is undefined. */
export interface ChatDraft {
  model: string
  system: string
  max_tokens: string
  turns: Turn[] | undefined
  text: string
}

export const readDraft = (form: SubmittedForm): ChatDraft => ({
  model: form.text('model'),
  system: form.text('system'),
  max_tokens: form.text('max_tokens').trim(),
  turns: parseTurns(form.text('turns')),
  text: form.text('text'),
})

function parseTurns(text: string): Turn[] | undefined {
  try {
    const turns: unknown = JSON.parse(text)
    return Value.Check(TurnsSchema, turns) ? turns : undefined
  } catch {
    return undefined
  }
}

/** A draft as a chat request (document 2, POST /chat/completions). Refuses bad_request. */
function chatRequest({ model, system, max_tokens, turns, text }: ChatDraft, stream: boolean) {
  if (!turns || turns.length > playTurnsMax - 2) {
    rejectForm(`A conversation here has at most ${playTurnsMax} messages. Begin a new one.`)
  }
  const most = Number(max_tokens)
  if (max_tokens !== '' && !(Number.isSafeInteger(most) && most > 0)) {
    rejectForm('“At most” is a whole number of tokens, 1 or more.')
  }
  const message = turns.map(({ role, content }) => ({ role, content }))
  return {
    model,
    messages: [
      ...(system.trim() === '' ? [] : [{ role: 'system', content: system }]),
      ...message,
      { role: 'user', content: text },
    ],
    ...(max_tokens !== '' && { max_tokens: most }),
    ...(stream && { stream }),
  }
}

/** What a person is told where the gateway's sentence speaks of its fields, and in USD. */
const chatMessages: Messages<GatewayErrorName> = {
  not_enough_credits: ({ needed, available }) =>
    `This can cost ${inWords(needed)} credits and your wallet has ${inWords(available)}. Nothing ` +
    'was charged. Lower “At most”, or add credits: your wallet’s page says how.',
  no_model: ({ model }) => `The model ${model.slice(0, 100)} is not served here. Choose another.`,
}

/** A refusal as the gateway answers it, in a person's words. */
function chatErrorResponse(refusal: ApiError<GatewayErrorName>): Response {
  const { status, headers, body } = errorEnvelope(refusal)
  const message = findMessage(chatMessages, refusal) ?? body.error.message
  return Response.json({ error: { ...body.error, message } }, { status, headers })
}

/** No page sends files, so there are no sounds to be heard. */
const noAudio = () => undefined

/**
 * What the gateway answers to a draft, or why not, in words of the page: the chat of document 2,
 * within the address's rate, held and settled on the wallet of who is signed in.
 */
export async function runChat(
  signedIn: SignedInRequest,
  draft: ChatDraft,
  stream: boolean,
): Promise<Response> {
  const { ctx, request, visitor } = signedIn
  const { id: requestId } = getRequestContext(request)
  try {
    const { gatewayRequests: rate } = ctx.state
    const retryAfter = rate.take(callerAddress(request))
    if (retryAfter !== undefined) throw new ApiError('rate_limited', { max: rate.max, retryAfter })
    const asked = chatRequest(draft, stream)
    // A start of the house does not wait for the gateway.
    const { complete } = await import('../../gateway/chat/chat.ts')
    const call = { requestId, ref: undefined, signal: request.signal }
    return await complete(ctx, spenderOf(walletOf(visitor.person)), asked, call, noAudio)
  } catch (error) {
    if (isGatewayError(error)) return chatErrorResponse(error)
    return errorResponse(error, () => {
      throw error
    })
  }
}

/** Among so many of the newest requests of a wallet is the one that was just answered. */
const recentRequestsMax = 100

/** What a request came to, in words, and what it left. */
export interface RequestSummary {
  told: string
  left: string
}

/** What a request of a wallet came to, once it is settled. */
export async function findRequestSummary(
  ctx: AppContext,
  owner: Owner,
  requestId: string,
): Promise<RequestSummary | undefined> {
  const { data } = await listHistory(ctx, accountOf(owner), { page_count: recentRequestsMax })
  const use = data.find(({ request_id }) => request_id === requestId)
  if (!use) return undefined
  const amount = fromUsd(use.price_in_usd.toFixed(9)) ?? zero
  const words = [
    use.model,
    `tokens: ${use.input_count} in, ${use.output_count} out${use.estimated ? ' (our count)' : ''}`,
    `${formatCredits(toCredits(amount))} credits, ${formatUsd(toUsd(amount))}`,
    formatDuration(use.ms),
    ...(use.status === 'interrupted' ? ['stopped early'] : []),
    ...(use.status === 'failed' ? ['failed'] : []),
  ]
  return { told: words.join(' · '), left: formatBalance(await ledger.balanceOf(ctx, owner)) }
}

/** What a wallet has to spend, in words. */
export const formatBalance = ({ available }: { available: bigint }): string =>
  `${formatCredits(toCredits(available))} credits`
