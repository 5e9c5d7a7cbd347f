import { Elysia, NotFoundError } from 'elysia'

import type { AppContext } from '../../kernel/context.ts'
import { methodFinder } from '../../kernel/http/allowed-methods.ts'
import type { Operation } from '../../kernel/http/operation.ts'
import { decodeWildcard } from '../../kernel/http/path.ts'
import {
  getRequestContext,
  noteError,
  pathOf,
  senderOf,
} from '../../kernel/http/request-context.ts'
import { type ErrorReply, errorResponse, toResponse } from '../../kernel/http/response.ts'
import { offeredBody, OfferedError } from '../../money/payment.ts'
import { perform } from '../../money/perform.ts'

/** The fields of Elysia's context that a call needs. */
interface RouteContext {
  request: Request
  params: Record<string, unknown> | undefined
  query: Record<string, unknown> | undefined
}

/** The parts of an API that its operations do not declare. */
interface Served {
  /** Returns the public URL of a path. */
  urlOf(path: string): string
}

/** Serves operations over HTTP: a request becomes a call, and its outcome a response. */
export function routesOf(ctx: AppContext, operations: readonly Operation[], served: Served) {
  const app = new Elysia()
  for (const operation of operations) {
    const serve = (given: RouteContext) => serveOperation(ctx, operation, served, given)
    // Elysia reads the source of a handler, and parses only what it names.
    const handler =
      operation.input.query || operation.input.read
        ? ({ request, params, query }: RouteContext) => serve({ request, params, query })
        : ({ request, params }: RouteContext) => serve({ request, params, query: undefined })
    app.route(operation.method, operation.path, handler, { parse: 'none' })
  }
  return app
}

/** Performs the operation of a request. */
export async function serveOperation(
  ctx: AppContext,
  operation: Operation,
  { urlOf }: Served,
  { request, params = {}, query = {} }: RouteContext,
): Promise<Response> {
  const outcome = await perform(ctx, operation, {
    ...senderOf(request),
    signal: request.signal,
    // Only an offer of a payment names it.
    get resource() {
      return urlOf(pathOf(request.url))
    },
    params,
    query,
    source: { request },
  })
  return toResponse(ctx, request, outcome)
}

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
