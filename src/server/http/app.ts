import { Elysia, NotFoundError } from 'elysia'

import type { AppContext } from '../../kernel/context.ts'
import { methodFinder } from '../../kernel/http/allowed-methods.ts'
import { decodeWildcard } from '../../kernel/http/path.ts'
import { getRequestContext, noteError, pathOf } from '../../kernel/http/request-context.ts'
import { recordOf } from '../../kernel/schema.ts'
import { offeredBody, OfferedError } from '../../money/payment.ts'

/** A request that no handler answered. */
export interface FailedRequest {
  request: Request
  error: unknown
  /** No route has this path and method. */
  isUnknownRoute: boolean
  /** Lists the methods that the path has instead; none for an unknown path. */
  allowedMethods(): string[]
  /** Logs `error` as a fault. `respond` gets the request's id. */
  internalError<T>(respond: (requestId: string) => T): T
}

/** Adds the fields and headers of an offer to a 402. */
async function withOffer(response: Response, offered: OfferedError): Promise<Response> {
  const headers = new Headers({ ...response.headers.toJSON(), ...offered.headers })
  headers.delete('content-length')
  const body = offeredBody(offered, recordOf(await response.json()))
  return Response.json(body, { status: response.status, headers })
}

/** Creates the Elysia app of one part of the server. `respond` puts errors into its envelope. */
export function createApp(
  ctx: AppContext,
  respond: (failed: FailedRequest) => Response | Promise<Response>,
) {
  // Elysia looks for the path behind character 7 ("http://a/"), or 11 with a standard host name,
  // which takes a shorter host for a part of the path. Addresses of https have at least 11.
  const standardHostname = ctx.config.httpsHosts.length > 0
  const app = new Elysia({ normalize: false, handler: { standardHostname } })
  const { isOtherPath, methodsOf } = methodFinder(app)
  return app
    .onError(async ({ error: thrown, code, request }) => {
      const error = thrown instanceof OfferedError ? thrown.error : thrown
      noteError(ctx, getRequestContext(request), error)
      const response = await respond({
        request,
        error,
        isUnknownRoute: code === 'NOT_FOUND',
        allowedMethods: () => methodsOf(pathOf(request.url)),
        internalError: (toResponse) => {
          const { id, route } = getRequestContext(request)
          ctx.log.error('unexpected', error, { id, route })
          return toResponse(id)
        },
      })
      return thrown instanceof OfferedError ? withOffer(response, thrown) : response
    })
    .onTransform({ as: 'global' }, ({ request, route, params }) => {
      if (isOtherPath(route, pathOf(request.url))) throw new NotFoundError()
      getRequestContext(request).route = route
      decodeWildcard(params)
    })
}
