import { Elysia, ValidationError } from 'elysia'

import type { AppContext } from '../context.ts'
import { getRequestContext } from './request-context.ts'

/** A request that no handler answered. */
export interface FailedRequest {
  request: Request
  error: unknown
  /** The invalid path or query parameter. */
  validationError: ValidationError | undefined
  /** No route has this path and method. */
  isUnknownRoute: boolean
  /** Logs `error` as a fault. `respond` gets the request's id. */
  internalError(respond: (requestId: string) => Response): Response
}

/** Creates the Elysia app of one part of the server. `respond` puts errors into its envelope. */
export const createApp = (ctx: AppContext, respond: (failed: FailedRequest) => Response) =>
  // With a standard host name Elysia assumes that the path begins after the seventh character, and
  // takes a shorter host for a part of it.
  new Elysia({ normalize: false, handler: { standardHostname: false } })
    .onError(({ error, code, request }) => {
      const isInvalid = error instanceof ValidationError && error.type !== 'response'
      return respond({
        request,
        error,
        validationError: isInvalid ? error : undefined,
        isUnknownRoute: code === 'NOT_FOUND',
        internalError: (toResponse) => {
          const { id, route } = getRequestContext(request)
          ctx.log.error('unexpected', error, { id, route })
          return toResponse(id)
        },
      })
    })
    .onTransform({ as: 'global' }, ({ request, route }) => {
      getRequestContext(request).route = route
    })
