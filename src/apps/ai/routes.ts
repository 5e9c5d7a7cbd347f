import { Elysia } from 'elysia'

import { toOwnEnvelope } from '../../gateway/envelopes.ts'
import { errorEnvelope, isGatewayError } from '../../gateway/error-response.ts'
import { getOperation, performPaid } from '../../gateway/session-calls.ts'
import type { AppContext } from '../../kernel/context.ts'
import { ApiError, type ErrorName } from '../../kernel/errors.ts'
import { getRequestContext, senderOf } from '../../kernel/http/request-context.ts'
import * as hosting from '../../people/error-response.ts'
import { getVisitor } from '../../people/session-user.ts'
import { getPlayable } from '../playable.ts'
import { getPayer } from './payer.ts'
import { readModelRequest } from './request.ts'
import { measureTurn } from './turns.ts'

/** The header with the name of an error, which the shell reads in every format of errors. */
const codeHeader = 'x-service-code'

/**
 * Messages of errors whose own would tell a page what the payer has. Their status is one that no
 * client of these APIs repeats.
 */
const discreet: Partial<Record<ErrorName, [status: number, message: string]>> = {
  not_signed_in: [403, 'Nobody is signed in who could pay for this. Ask the player to sign in.'],
  not_granted: [403, 'The player has not agreed that this app may use models.'],
  not_enough_credits: [402, 'There are too few credits for this call.'],
  daily_cap: [403, 'The cap for today is too low for this call. Try it tomorrow.'],
  budget_exceeded: [403, 'The cap for today is too low for this call. Try it tomorrow.'],
  no_model: [404, 'This server has no model for this. Its operator can set one.'],
}

function errorResponse(error: unknown): Response {
  if (!(error instanceof ApiError)) throw error
  const code: ErrorName = error.errorName
  const known = isGatewayError(error) ? errorEnvelope(error) : undefined
  const other = known ? undefined : hosting.describeError(error)
  const [status = known?.status ?? other?.status, message = other?.message] = discreet[code] ?? []
  if (status === undefined) throw error
  const { error: own } = known?.body ?? { error: { type: 'invalid_request_error', param: null } }
  return Response.json(
    { error: { message, ...own, ...(discreet[code] && { message }), code } },
    { status, headers: { [codeHeader]: code } },
  )
}

/**
 * Calls a model for an app: an operation of the gateway in the API of the page, paid by the one who
 * agreed to it. Returns errors in the form of that API.
 */
export async function callModel(
  ctx: AppContext,
  request: Request,
  { id, path }: { id: string; path: string },
  identify = getVisitor,
): Promise<Response> {
  const { id: requestId } = getRequestContext(request)
  const respond = async (): Promise<Response> => {
    const visitor = await identify(ctx, senderOf(request))
    const app = await getPlayable(ctx, id, senderOf(request))
    const payer = await getPayer(ctx, app, visitor)
    const { work, route, ...sent } = await readModelRequest(ctx, request, path)
    const { searchParams } = new URL(request.url)
    const alt = searchParams.get('alt')
    const measured =
      work === 'chat' ? { ...payer, onServed: measureTurn(ctx, app.id, payer) } : payer
    return performPaid(ctx, request, measured, await getOperation('POST', route), {
      ...sent,
      query: alt === null ? {} : { alt },
    })
  }
  const response = await respond().catch(errorResponse)
  response.headers.set('cache-control', 'no-store')
  return toOwnEnvelope(`/${path}`, response, requestId)
}

const modelPath = '/a/:id/ai/*'

/** The calls of models by the pages of apps, which their shells send (public/bridge). */
export const aiRoutes = (ctx: AppContext) =>
  new Elysia({ name: 'ai' }).post(
    modelPath,
    ({ request, params }) => callModel(ctx, request, { id: params.id, path: params['*'] }),
    {
      // The model has its own deadline.
      transform: ({ request }) => {
        getRequestContext(request).hasOwnDeadline = true
      },
      // The body is read here, within its own bounds.
      parse: 'none',
    },
  )
