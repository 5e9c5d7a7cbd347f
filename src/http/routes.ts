import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'

import type { AppContext } from '../context.ts'
import type { DescribedRoute } from './api-description.ts'
import { entityResponse } from './entity.ts'
import { eventStream } from './event-stream.ts'
import type { Operation } from './operation.ts'
import { Content, Events, Replay, Revalidated, Success } from './outcome.ts'
import { perform } from './perform.ts'
import { getRequestContext, pathOf } from './request-context.ts'

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
  const { method, headers, signal } = request
  const context = getRequestContext(request)
  const sender = { method, headers, signal, context, resource: urlOf(pathOf(request.url)) }
  const call = { ...sender, params, query, source: { request } }
  return toResponse(ctx, request, await perform(ctx, operation, call))
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

/** Returns the routes of operations for the description of their API, with schemas. */
export const describedRoutes = (
  operations: readonly Operation[],
  prefix: string,
): DescribedRoute[] =>
  operations.map((operation) => {
    const { method, path, input, id, tag, summary, description, access, errors } = operation
    const { idempotent } = operation
    const { params, query, body, bodies } = input
    return {
      method,
      path: prefix + path,
      hooks: {
        params,
        query,
        body: body === 'none' ? undefined : body,
        response: responsesOf(operation),
        detail: {
          operationId: id,
          tags: [tag],
          summary,
          ...(description && { description }),
          ...(bodies && { requestBody: { required: true, content: bodies } }),
          ...(idempotent && access.idempotencyHeader && { parameters: [access.idempotencyHeader] }),
          security: access.security,
          operation: { errors },
        },
      },
    }
  })

/** Returns the schemas of all responses. 202 is a running job, and a pending payment. */
function responsesOf({ output, errorSchemas }: Operation) {
  const responses = { ...output }
  for (const [status, schema] of Object.entries(errorSchemas())) {
    const success = output[Number(status)]
    responses[Number(status)] = success ? Type.Union([success, schema]) : schema
  }
  return responses
}
