import { spenderOf } from '../../gateway/authentication.ts'
import { errorEnvelope, findEnvelope, isGatewayError } from '../../gateway/error-response.ts'
import { isTimed } from '../../gateway/models/price.ts'
import { countPaidCall, getOperation, performPaid } from '../../gateway/session-calls.ts'
import { listHistory } from '../../gateway/usage/history.ts'
import type { UsageRow } from '../../gateway/usage/schemas.ts'
import type { AppContext } from '../../kernel/context.ts'
import { ApiError, type GatewayErrorName, isApiError } from '../../kernel/errors.ts'
import type { IncomingCall, Operation } from '../../kernel/http/operation.ts'
import { getRequestContext } from '../../kernel/http/request-context.ts'
import { errorResponse, toResponse } from '../../kernel/http/response.ts'
import { sha256 } from '../../kernel/ids.ts'
import { playBytesMax } from '../../kernel/limits.ts'
import { formatCredits, fromUsd, toCredits, toUsd, zero } from '../../kernel/money.ts'
import { isRecord } from '../../kernel/schema.ts'
import { t } from '../../kernel/words/message.ts'
import { accountOf, type Owner } from '../../money/ledger/accounts.ts'
import * as ledger from '../../money/ledger/ledger.ts'
import { walletOf } from '../../people/people.ts'
import { checkSite } from '../../people/session-user.ts'
import {
  formatAmount,
  formatDuration,
  formatExactCount,
  formatNumber,
  formatUsd,
  shortCredits,
} from '../format.ts'
import type { Layout, Page } from '../layout.ts'
import { playgroundPath } from '../paths.ts'
import {
  pageRoutes,
  privatePage,
  requireUser,
  userForm,
  userPage,
  type UserRequest,
} from '../session.ts'
import { type ChatDraft, chatRequest, emptyDraft, playgroundPage, readDraft } from './page.ts'

/** Returns a message in credits and form labels; those of the API are in USD and field names. */
function messageOf(error: ApiError<GatewayErrorName>): string {
  if (isApiError(error, 'not_enough_credits')) {
    const [{ needed, available }] = error.details
    return t(
      'This request can cost up to {needed} credits and your wallet has {available}. Nothing was charged. Lower “Max tokens” or add credits in your wallet.',
      { needed: formatCredits(needed), available: formatCredits(available) },
    )
  }
  if (isApiError(error, 'no_model')) {
    const [{ model }] = error.details
    return t('The model {model} is not available. Choose another model.', {
      model: model.slice(0, 100),
    })
  }
  return errorEnvelope(error).body.error.message
}

function callErrorResponse(error: ApiError<GatewayErrorName>): Response {
  const { body, ...reply } = errorEnvelope(error)
  return errorResponse({ ...reply, body: { error: { ...body.error, message: messageOf(error) } } })
}

/**
 * Performs an operation that the person's wallet pays for. Returns errors as gateway responses with
 * messages for people.
 */
async function performForPerson(
  { ctx, request, visitor }: UserRequest,
  operation: Operation,
  call: Pick<IncomingCall, 'params' | 'source'>,
): Promise<Response> {
  try {
    countPaidCall(ctx, request)
    const spender = spenderOf(walletOf(visitor.person))
    return toResponse(ctx, request, await performPaid(ctx, request, spender, operation, call))
  } catch (error) {
    if (isGatewayError(error)) return callErrorResponse(error)
    const known = findEnvelope(error)
    if (!known) throw error
    return errorResponse(known)
  }
}

/** Runs a chat completion (document 2) of the form without scripts. */
async function runChat(req: UserRequest, body: object): Promise<Response> {
  const operation = await getOperation('POST', '/chat/completions')
  return performForPerson(req, operation, { params: {}, source: { value: body } })
}

/** The header with the token of the page's form. Other sites cannot set it. */
const tokenHeader = 'x-form-token'

/**
 * Runs an operation of the gateway with the body of the API, paid by the session: the token of the
 * form is in a header (docs/decisions/0083). Throws `cross_site`, `not_found`.
 */
async function callGateway(req: UserRequest, path: string): Promise<Response> {
  checkSite(req.ctx, req.request)
  const given = req.request.headers.get(tokenHeader) ?? ''
  if (sha256(given) !== sha256(req.token)) {
    return Response.json(
      { error: { message: t('This page expired. Reload it.') } },
      { status: 403 },
    )
  }
  const operation = await getOperation('POST', `/${path}`)
  return performForPerson(req, operation, { params: {}, source: { request: req.request } })
}

/** Returns the video of a wallet (document 2, GET /v1/videos/{id}). */
async function readVideo(req: UserRequest, id: string): Promise<Response> {
  const operation = await getOperation('GET', '/videos/:id')
  const response = await performForPerson(req, operation, {
    params: { id },
    source: { value: undefined },
  })
  response.headers.set('cache-control', 'no-store')
  return response
}

/** The number of requests to search for the one that just ended. */
const recentRequestsMax = 100

/** The summary of a request and the balance after it. */
export interface RequestSummary {
  summary: string
  /** The exact cost, for a tooltip. */
  exact: string
  left: string
}

/** Summarizes a request of a wallet once it is settled. */
async function findRequestSummary(
  ctx: AppContext,
  owner: Owner,
  requestId: string,
): Promise<RequestSummary | undefined> {
  const { data } = await listHistory(ctx, accountOf(owner), { page_count: recentRequestsMax })
  const use = data.find(({ request_id }) => request_id === requestId)
  if (!use) return undefined
  const amount = fromUsd(use.price_in_usd.toFixed(9)) ?? zero
  const words = [
    `${countedUnits(ctx, use)}${use.estimated ? ' (estimated)' : ''}`,
    formatAmount(toCredits(amount), 'credit'),
    formatDuration(use.ms),
    ...(use.status === 'interrupted' ? ['stopped'] : []),
    ...(use.status === 'failed' ? ['failed'] : []),
  ]
  return {
    summary: words.join(' · '),
    exact: t('{amount} credits, {toUsd}', {
      amount: formatCredits(amount),
      toUsd: formatUsd(toUsd(amount)),
    }),
    left: formatBalance(await ledger.balanceOf(ctx, owner)),
  }
}

/** Names the counts of a request by the units that its model charges. */
function countedUnits({ catalog }: AppContext, { model, input_count, output_count }: UsageRow) {
  const { price, type } = catalog.find(model)?.model ?? {}
  if (type === 'image' && price?.perImage !== undefined)
    return formatExactCount(output_count, 'image')
  if (type === 'audio' && price?.perCharacter !== undefined)
    return formatExactCount(input_count, 'character')
  if (price && isTimed(price)) return formatExactCount(input_count, 'second')
  if (type === 'embedding') return formatExactCount(input_count, 'token')
  return t('{input_count} tokens in, {output_count} out', {
    input_count: formatNumber(input_count),
    output_count: formatNumber(output_count),
  })
}

const formatBalance = ({ available }: { available: bigint }): string =>
  t('{available} credits', { available: shortCredits(toCredits(available)) })

const ownerOf = ({ visitor }: UserRequest) => walletOf(visitor.person)

async function getPlaygroundPage(
  req: UserRequest,
  draft: ChatDraft,
  message?: string,
): Promise<Page> {
  const { ctx, token, query, layout } = req
  const wallet = ownerOf(req)
  const { owner } = wallet
  const left = formatBalance(await ledger.balanceOf(ctx, wallet))
  const other = query.get('with') ?? ''
  const page = await playgroundPage(ctx, { token, owner, draft, other, left, message })
  return { ...page, headers: mediaHeaders(ctx, layout) }
}

/** Returns the policy of the page, which also shows images and sounds that its script creates. */
function mediaHeaders({ urls }: AppContext, { headers }: Layout): Record<string, string> {
  const policy = headers['content-security-policy'] ?? ''
  const sources = `blob: ${new URL(urls.gateway).origin}`
  return {
    'content-security-policy': policy.replace(/(img|media)-src [^;]+/g, `$& ${sources}`),
  }
}

/** Runs a chat turn without JavaScript and renders the page with its result or error. */
async function completeTurn(req: UserRequest, draft: ChatDraft): Promise<Page> {
  const response = await runChat(req, chatRequest(draft))
  const body: unknown = await response.json()
  if (!response.ok) {
    const error = isRecord(body) && isRecord(body.error) ? body.error.message : undefined
    const wait = response.headers.get('retry-after')
    const page = await getPlaygroundPage(req, draft, String(error))
    const headers = { ...page.headers, ...(wait && { 'retry-after': wait }) }
    return { ...page, status: response.status, headers }
  }
  const requestId = getRequestContext(req.request).id
  const { summary } = (await findRequestSummary(req.ctx, ownerOf(req), requestId)) ?? {}
  const question = { role: 'user', content: draft.text } as const
  const reply = {
    role: 'assistant',
    content: messageText(body),
    ...(summary && { summary }),
  } as const
  const turns = [...(draft.turns ?? []), question, reply]
  return getPlaygroundPage(req, { ...draft, text: '', turns })
}

/** Returns the text of a chat completion. */
function messageText(body: unknown): string {
  const [choice]: unknown[] = isRecord(body) && Array.isArray(body.choices) ? body.choices : []
  const message = isRecord(choice) ? choice.message : undefined
  return isRecord(message) && typeof message.content === 'string' ? message.content : ''
}

/** The model has its own deadline. */
const ownDeadline = {
  transform: ({ request }: { request: Request }) => {
    getRequestContext(request).hasOwnDeadline = true
  },
}

/** The playground: a page, its chat without scripts, and the gateway paid by the session. */
export function playgroundRoutes(ctx: AppContext, layout: Layout) {
  return pageRoutes(ctx, layout)
    .get(playgroundPath, ({ input }) =>
      userPage(input, (req) => getPlaygroundPage(req, emptyDraft(req.query.get('model') ?? ''))),
    )
    .post(
      playgroundPath,
      ({ input }) =>
        userForm(
          input,
          async (req, form) => privatePage(req, await completeTurn(req, readDraft(form))),
          (req, message, form) => getPlaygroundPage(req, readDraft(form), message),
          { bytesMax: playBytesMax },
        ),
      ownDeadline,
    )
    .post(
      `${playgroundPath}/v1/*`,
      ({ input, params }) => requireUser(input, (req) => callGateway(req, params['*'])),
      ownDeadline,
    )
    .get(`${playgroundPath}/v1/videos/:id`, ({ input, params }) =>
      requireUser(input, (req) => readVideo(req, params.id)),
    )
    .get(`${playgroundPath}/:request`, ({ input, params }) =>
      requireUser(input, async (req) => {
        const summary = await findRequestSummary(ctx, ownerOf(req), params.request)
        if (summary) return Response.json(summary, { headers: { 'cache-control': 'no-store' } })
        throw new ApiError('not_found', { what: 'request', see: t('Usage lists all requests.') })
      }),
    )
}
