import { Elysia, NotFoundError, ValidationError } from 'elysia'

import type { AppContext } from '../context.ts'
import { nano, zero } from '../core/money.ts'
import { isApiError } from '../errors.ts'
import { methodFinder } from './allowed-methods.ts'
import { noteError } from './note-error.ts'
import { decodeWildcard } from './path.ts'
import { getRequestContext, pathOf, type RequestContext } from './request-context.ts'

/** A request that no handler answered. */
export interface FailedRequest {
  request: Request
  error: unknown
  /** The invalid path or query parameter. */
  validationError: ValidationError | undefined
  /** No route has this path and method. */
  isUnknownRoute: boolean
  /** Lists the methods that the path has instead; none for an unknown path. */
  allowedMethods(): string[]
  /** Logs `error` as a fault. `respond` gets the request's id. */
  internalError<T>(respond: (requestId: string) => T): T
}

/** Returns what a call is short of, where a payment can add it. */
export function shortfallOf(error: unknown): RequestContext['shortfall'] {
  if (isApiError(error, 'payment_required')) {
    const [{ amount, share }] = error.details
    return { amount: nano(amount), spends: zero, ...(share && { share }) }
  }
  if (!isApiError(error, 'not_enough_credits')) return undefined
  const [{ needed, available }] = error.details
  return { amount: nano(needed - available), spends: nano(needed) }
}

/** Creates the Elysia app of one part of the server. `respond` puts errors into its envelope. */
export function createApp(
  ctx: AppContext,
  respond: (failed: FailedRequest) => Response | Promise<Response>,
) {
  // With a standard host name Elysia assumes that the path begins after the seventh character, and
  // takes a shorter host for a part of it.
  const app = new Elysia({ normalize: false, handler: { standardHostname: false } })
  const { isOtherPath, methodsOf } = methodFinder(app)
  return app
    .onError(({ error, code, request }) => {
      noteError(ctx, request, error)
      getRequestContext(request).shortfall = shortfallOf(error)
      const isInvalid = error instanceof ValidationError && error.type !== 'response'
      return respond({
        request,
        error,
        validationError: isInvalid ? error : undefined,
        isUnknownRoute: code === 'NOT_FOUND',
        allowedMethods: () => methodsOf(pathOf(request.url)),
        internalError: (toResponse) => {
          const { id, route } = getRequestContext(request)
          ctx.log.error('unexpected', error, { id, route })
          return toResponse(id)
        },
      })
    })
    .onTransform({ as: 'global' }, ({ request, route, params }) => {
      if (isOtherPath(route, pathOf(request.url))) throw new NotFoundError()
      getRequestContext(request).route = route
      decodeWildcard(params)
    })
}
