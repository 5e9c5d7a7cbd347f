import { spenderOf } from '../../gateway/authentication.ts'
import { errorEnvelope, errorResponse, isGatewayError } from '../../gateway/error-response.ts'
import { ApiError, type GatewayErrorName, isApiError } from '../../kernel/errors.ts'
import type { IncomingCall, Operation } from '../../kernel/http/operation.ts'
import { clientAddressGroup, senderOf } from '../../kernel/http/request-context.ts'
import { toResponse } from '../../kernel/http/response.ts'
import { sha256 } from '../../kernel/ids.ts'
import { formatCredits } from '../../kernel/money.ts'
import { lookUp } from '../../kernel/schema.ts'
import { perform } from '../../money/perform.ts'
import { walletOf } from '../../people/people.ts'
import { checkSite } from '../../people/session-user.ts'
import type { UserRequest } from '../session.ts'

/** Returns a message in credits and form labels; those of the API are in USD and field names. */
function messageOf(error: ApiError<GatewayErrorName>): string {
  if (isApiError(error, 'not_enough_credits')) {
    const [{ needed, available }] = error.details
    return (
      `This request can cost up to ${formatCredits(needed)} credits and your wallet has ` +
      `${formatCredits(available)}. Nothing was charged. Lower “Max tokens” or add credits in your wallet.`
    )
  }
  if (isApiError(error, 'no_model')) {
    const [{ model }] = error.details
    return `The model ${model.slice(0, 100)} is not available. Choose another model.`
  }
  return errorEnvelope(error).body.error.message
}

function callErrorResponse(error: ApiError<GatewayErrorName>): Response {
  const { status, headers, body } = errorEnvelope(error)
  return Response.json({ error: { ...body.error, message: messageOf(error) } }, { status, headers })
}

/**
 * The operations of the gateway (document 2, section 4) by the starts of their paths below `/v1/`.
 * They are imported with the first request, to keep the start fast.
 */
const lists: Record<string, () => Promise<readonly Operation[]>> = {
  chat: async () => (await import('../../gateway/openai-chat/operations.ts')).chatOperations,
  images: async () => (await import('../../gateway/images/operations.ts')).imageOperations,
  audio: async () => (await import('../../gateway/audio/operations.ts')).audioOperations,
  embeddings: async () =>
    (await import('../../gateway/embeddings/operations.ts')).embeddingOperations,
  videos: async () => (await import('../../gateway/videos/operations.ts')).videoOperations,
  files: async () => (await import('../../gateway/files/operations.ts')).fileOperations,
}

/** Returns an operation of the gateway by its route. Throws `not_found`. */
async function getOperation(method: string, path: string): Promise<Operation> {
  const list = lookUp(lists, path.split('/')[1] ?? '')
  const found = (await list?.())?.find((one) => one.method === method && one.path === path)
  if (found) return found
  throw new ApiError('not_found', { what: 'page' })
}

/**
 * Performs an operation that the person's wallet pays for, within the rate limit of the client's
 * address. Returns errors as gateway responses with messages for people.
 */
async function performPaid(
  { ctx, request, visitor }: UserRequest,
  operation: Operation,
  call: Pick<IncomingCall, 'params' | 'source'>,
): Promise<Response> {
  try {
    const { gatewayRequests: rate } = ctx.state.limits
    const retryAfter = rate.take(clientAddressGroup(request))
    if (retryAfter !== undefined) throw new ApiError('rate_limited', { max: rate.max, retryAfter })
    const outcome = await perform(ctx, operation, {
      ...senderOf(request),
      signal: request.signal,
      resource: '',
      caller: spenderOf(walletOf(visitor.person)),
      query: {},
      ...call,
    })
    return toResponse(ctx, request, outcome)
  } catch (error) {
    if (isGatewayError(error)) return callErrorResponse(error)
    return errorResponse(error, () => {
      throw error
    })
  }
}

/** Runs a chat completion (document 2) of the form without scripts. */
export async function runChat(req: UserRequest, body: object): Promise<Response> {
  const operation = await getOperation('POST', '/chat/completions')
  return performPaid(req, operation, { params: {}, source: { value: body } })
}

/** The header with the token of the page's form. Other sites cannot set it. */
const tokenHeader = 'x-form-token'

/**
 * Runs an operation of the gateway with the body of the API, paid by the session: the token of the
 * form is in a header (docs/decisions/0083). Throws `cross_site`, `not_found`.
 */
export async function callGateway(req: UserRequest, path: string): Promise<Response> {
  checkSite(req.ctx, req.request)
  const given = req.request.headers.get(tokenHeader) ?? ''
  if (sha256(given) !== sha256(req.token)) {
    return Response.json({ error: { message: 'This page expired. Reload it.' } }, { status: 403 })
  }
  const operation = await getOperation('POST', `/${path}`)
  return performPaid(req, operation, { params: {}, source: { request: req.request } })
}

/** Returns the video of a wallet (document 2, GET /v1/videos/{id}). */
export async function readVideo(req: UserRequest, id: string): Promise<Response> {
  const operation = await getOperation('GET', '/videos/:id')
  const response = await performPaid(req, operation, {
    params: { id },
    source: { value: undefined },
  })
  response.headers.set('cache-control', 'no-store')
  return response
}
