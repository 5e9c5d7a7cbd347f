import { Elysia } from 'elysia'

import { entityResponse } from '../../kernel/http/entity.ts'
import { eventStream } from '../../kernel/http/event-stream.ts'
import type { Operation } from '../../kernel/http/operation.ts'
import { Content, Events, Replay, Revalidated, Success } from '../../kernel/http/outcome.ts'
import { pathOf, senderOf } from '../../kernel/http/request-context.ts'
import { perform } from '../../money/perform.ts'
import type { AppContext } from '../context.ts'

/** The fields of Elysia's context that a call needs. */
interface RouteContext {
  request: Request
  params: Record<string, unknown> | undefined
  query: Record<string, unknown> | undefined
}

/** Serves operations over HTTP: a request becomes a call, and its outcome a response. */
export function routesOf(
  ctx: AppContext,
  operations: readonly Operation[],
  urlOf: (path: string) => string,
) {
  const app = new Elysia()
  for (const operation of operations) {
    const serve = (given: RouteContext) => serveOperation(ctx, operation, urlOf, given)
    // Elysia reads the source of a handler, and parses only what it names.
    const handler =
      operation.input.query || operation.input.read
        ? ({ request, params, query }: RouteContext) => serve({ request, params, query })
        : ({ request, params }: RouteContext) => serve({ request, params, query: undefined })
    app.route(operation.method, operation.path, handler, { parse: 'none' })
  }
  return app
}

/** Performs the operation of a request. `urlOf` returns the public URL of a path. */
export async function serveOperation(
  ctx: AppContext,
  operation: Operation,
  urlOf: (path: string) => string,
  { request, params = {}, query = {} }: RouteContext,
): Promise<Response> {
  const outcome = await perform(ctx, operation, {
    ...senderOf(request),
    signal: request.signal,
    resource: urlOf(pathOf(request.url)),
    params,
    query,
    source: { request },
  })
  return toResponse(ctx, request, outcome)
}

/** Returns the response to a request from the outcome of an operation. */
export function toResponse(ctx: AppContext, request: Request, outcome: unknown): Response {
  // The gateway relays the responses of upstreams.
  if (outcome instanceof Response) return outcome
  if (outcome instanceof Success) {
    const { value, status, headers } = outcome
    return Response.json(value, { status, headers })
  }
  if (outcome instanceof Replay) {
    const { body, status } = outcome.response
    return Response.json(body, { status })
  }
  if (outcome instanceof Revalidated) return entityResponse(request, outcome.entity)
  if (outcome instanceof Events) return eventStream(ctx, request, outcome.open)
  if (!(outcome instanceof Content)) return Response.json(outcome)
  const { body, headers } = outcome
  // The runtime reads generators, which its types do not know.
  return new Response(body, { status: body === null ? 204 : 200, headers })
}
