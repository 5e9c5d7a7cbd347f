import type { AppContext } from '../context.ts'
import { entityResponse } from './entity.ts'
import { eventStream } from './event-stream.ts'
import { Content, Events, Replay, Revalidated, Success } from './outcome.ts'

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
