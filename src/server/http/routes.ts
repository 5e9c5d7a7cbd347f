import { Elysia } from 'elysia'

import type { AppContext } from '../../kernel/context.ts'
import type { Operation } from '../../kernel/http/operation.ts'
import { pathOf, senderOf } from '../../kernel/http/request-context.ts'
import { toResponse } from '../../kernel/http/response.ts'
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
  /** Puts the replay of an error into the envelope of its request. */
  present?(outcome: unknown, request: Request): unknown
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
  { urlOf, present = (outcome) => outcome }: Served,
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
  return toResponse(ctx, request, present(outcome, request))
}
