import { spenderOf } from '../../gateway/authentication.ts'
import { errorEnvelope, errorResponse, isGatewayError } from '../../gateway/error-response.ts'
import { getOperation, performPaid } from '../../gateway/session-calls.ts'
import { type ApiError, type GatewayErrorName, isApiError } from '../../kernel/errors.ts'
import type { IncomingCall, Operation } from '../../kernel/http/operation.ts'
import { sha256 } from '../../kernel/ids.ts'
import { formatCredits } from '../../kernel/money.ts'
import { t } from '../../kernel/words/message.ts'
import { walletOf } from '../../people/people.ts'
import { checkSite } from '../../people/session-user.ts'
import type { UserRequest } from '../session.ts'

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
  const { status, headers, body } = errorEnvelope(error)
  return Response.json({ error: { ...body.error, message: messageOf(error) } }, { status, headers })
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
    const spender = spenderOf(walletOf(visitor.person))
    return await performPaid(ctx, request, spender, operation, call)
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
  return performForPerson(req, operation, { params: {}, source: { value: body } })
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
    return Response.json(
      { error: { message: t('This page expired. Reload it.') } },
      { status: 403 },
    )
  }
  const operation = await getOperation('POST', `/${path}`)
  return performForPerson(req, operation, { params: {}, source: { request: req.request } })
}

/** Returns the video of a wallet (document 2, GET /v1/videos/{id}). */
export async function readVideo(req: UserRequest, id: string): Promise<Response> {
  const operation = await getOperation('GET', '/videos/:id')
  const response = await performForPerson(req, operation, {
    params: { id },
    source: { value: undefined },
  })
  response.headers.set('cache-control', 'no-store')
  return response
}
