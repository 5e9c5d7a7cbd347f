import { Elysia, NotFoundError } from 'elysia'

import type { AppContext } from '../../kernel/context.ts'
import { methodFinder } from '../../kernel/http/allowed-methods.ts'
import { decodeWildcard } from '../../kernel/http/path.ts'
import { getRequestContext, noteError, pathOf } from '../../kernel/http/request-context.ts'
import { type ErrorReply, errorResponse } from '../../kernel/http/response.ts'
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
const withOffer = ({ status, headers, body }: ErrorReply, offered: OfferedError): ErrorReply => ({
  status,
  headers: { ...headers, ...offered.headers },
  body: offeredBody(offered, { ...body }),
})

/**
 * Creates the Elysia app of one part of the server. `respond` puts errors into its envelope, or
 * returns a page.
 */
export function createApp(
  ctx: AppContext,
  respond: (failed: FailedRequest) => ErrorReply | Response | Promise<Response>,
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
      const reply = await respond({
        request,
        error,
        isUnknownRoute: code === 'NOT_FOUND',
        allowedMethods: () => methodsOf(pathOf(request.url)),
        internalError: (toReply) => {
          const { id, route } = getRequestContext(request)
          ctx.log.error('unexpected', error, { id, route })
          return toReply(id)
        },
      })
      if (reply instanceof Response) return reply
      return errorResponse(thrown instanceof OfferedError ? withOffer(reply, thrown) : reply)
    })
    .onTransform({ as: 'global' }, ({ request, route, params }) => {
      if (isOtherPath(route, pathOf(request.url))) throw new NotFoundError()
      getRequestContext(request).route = route
      decodeWildcard(params)
    })
}
