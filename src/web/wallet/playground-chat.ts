import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

import type { AppContext } from '../../context.ts'
import { formatCredits, fromUsd, toCredits, toUsd, zero } from '../../core/money.ts'
import { oneOf } from '../../core/schema.ts'
import { ApiError, type GatewayErrorName } from '../../errors.ts'
import { spenderOf } from '../../gateway/authentication.ts'
import { errorEnvelope, errorResponse, isGatewayError } from '../../gateway/error-response.ts'
import { listHistory } from '../../gateway/usage/history.ts'
import { walletOf } from '../../hosting/people/people.ts'
import { clientAddressGroup, getRequestContext } from '../../http/request-context.ts'
import { accountOf, type Owner } from '../../ledger/accounts.ts'
import * as ledger from '../../ledger/ledger.ts'
import { playTurnsMax } from '../../limits.ts'
import { findMessage, type Messages } from '../error-messages.ts'
import { formatDuration, formatUsd, shortCredits } from '../format.ts'
import { type Form, rejectForm } from '../forms.ts'
import type { UserRequest } from '../session.ts'

/** A message of a conversation. `summary` summarizes the tokens and cost of a reply. */
const Turn = Type.Object(
  {
    role: oneOf(['user', 'assistant']),
    content: Type.String(),
    summary: Type.Optional(Type.String()),
  },
  { additionalProperties: false },
)
export type Turn = Static<typeof Turn>
const TurnsSchema = Type.Array(Turn, { maxItems: playTurnsMax })

/** The submitted form. `turns` is undefined when it is malformed. */
export interface ChatDraft {
  model: string
  system: string
  max_tokens: string
  turns: Turn[] | undefined
  text: string
}

export const readDraft = (form: Form): ChatDraft => ({
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

/** Creates a chat request (document 2, POST /chat/completions). Throws `bad_request`. */
function chatRequest({ model, system, max_tokens, turns, text }: ChatDraft, stream: boolean) {
  if (!turns || turns.length > playTurnsMax - 2) {
    rejectForm(
      `A conversation can have at most ${playTurnsMax} messages. Start a new conversation.`,
    )
  }
  const limit = Number(max_tokens)
  if (max_tokens !== '' && !(Number.isSafeInteger(limit) && limit > 0)) {
    rejectForm('Enter a whole number of max tokens, 1 or more.')
  }
  const history = turns.map(({ role, content }) => ({ role, content }))
  return {
    model,
    messages: [
      ...(system.trim() === '' ? [] : [{ role: 'system', content: system }]),
      ...history,
      { role: 'user', content: text },
    ],
    ...(max_tokens !== '' && { max_tokens: limit }),
    ...(stream && { stream }),
  }
}

/** Messages in credits and form labels; the API's are in USD and field names. */
const chatMessages: Messages<GatewayErrorName> = {
  not_enough_credits: ({ needed, available }) =>
    `This request can cost up to ${formatCredits(needed)} credits and your wallet has ` +
    `${formatCredits(available)}. Nothing was charged. Lower “Max tokens” or add credits in your wallet.`,
  no_model: ({ model }) =>
    `The model ${model.slice(0, 100)} is not available. Choose another model.`,
}

function chatErrorResponse(error: ApiError<GatewayErrorName>): Response {
  const { status, headers, body } = errorEnvelope(error)
  const message = findMessage(chatMessages, error) ?? body.error.message
  return Response.json({ error: { ...body.error, message } }, { status, headers })
}

/** The playground sends no audio, so it needs no transcription. */
const noAudio = () => undefined

/**
 * Runs a chat completion (document 2) that the person's wallet pays for, within the rate limit of
 * the client's address. Returns errors as gateway responses with messages for people.
 */
export async function runChat(
  req: UserRequest,
  draft: ChatDraft,
  stream: boolean,
): Promise<Response> {
  const { ctx, request, visitor } = req
  const { id: requestId } = getRequestContext(request)
  try {
    const { gatewayRequests: rate } = ctx.state.limits
    const retryAfter = rate.take(clientAddressGroup(request))
    if (retryAfter !== undefined) throw new ApiError('rate_limited', { max: rate.max, retryAfter })
    const body = chatRequest(draft, stream)
    // Imported with the first request, to keep the start fast.
    const { createChatCompletion } = await import('../../gateway/chat/chat.ts')
    const call = { requestId, idempotencyKey: undefined, signal: request.signal }
    return await createChatCompletion(ctx, spenderOf(walletOf(visitor.person)), body, call, noAudio)
  } catch (error) {
    if (isGatewayError(error)) return chatErrorResponse(error)
    return errorResponse(error, () => {
      throw error
    })
  }
}

/** The number of requests to search for the one that just ended. */
const recentRequestsMax = 100

/** The summary of a request and the balance after it. */
export interface RequestSummary {
  summary: string
  left: string
}

/** Summarizes a request of a wallet once it is settled. */
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
    `tokens: ${use.input_count} in, ${use.output_count} out${use.estimated ? ' (estimated)' : ''}`,
    `${shortCredits(toCredits(amount))} credits, ${formatUsd(toUsd(amount))}`,
    formatDuration(use.ms),
    ...(use.status === 'interrupted' ? ['stopped'] : []),
    ...(use.status === 'failed' ? ['failed'] : []),
  ]
  return { summary: words.join(' · '), left: formatBalance(await ledger.balanceOf(ctx, owner)) }
}

export const formatBalance = ({ available }: { available: bigint }): string =>
  `${shortCredits(toCredits(available))} credits`
