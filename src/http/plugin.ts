import { Elysia, ParseError, ValidationError } from 'elysia'

import type { AppContext } from '../context.ts'
import { describeSchema } from '../core/schema.ts'
import { validationProblem } from './validation.ts'
import { ApiError } from '../errors.ts'
import * as gateway from '../gateway/envelope.ts'
import * as hosting from '../hosting/envelope.ts'
import { pathOf, getRequestContext } from './request-context.ts'

/** A request that a part could not answer. */
interface Failed {
  request: Request
  /** What was thrown, out of the framework's wrapping. */
  error: unknown
  /** What the framework found not to fit in the path or the query. */
  misfit: ValidationError | undefined
  /** The path, or the method there, is none of the part's. */
  isUnmatched: boolean
  /** Logs the error as ours; `say` is given the request's id. */
  fault(say: (requestId: string) => Response): Response
}

/** A router for one part of the house, which says no in the part's own envelope. */
export function mount(ctx: AppContext, sayNo: (failed: Failed) => Response) {
  // Without the handler's setting the router takes the path of a host of one to three letters to
  // begin later than it does, so that a path in front could hide an address from the door.
  return new Elysia({ normalize: false, handler: { standardHostname: false } })
    .onError(({ error: thrown, code, request }) => {
      const error = thrown instanceof ParseError ? thrown.cause : thrown
      const isMisfit = error instanceof ValidationError && error.type !== 'response'
      const fault: Failed['fault'] = (say) => {
        const { id, route } = getRequestContext(request)
        ctx.log.fault('unexpected', thrown, { id, route })
        return say(id)
      }
      const misfit = isMisfit ? error : undefined
      return sayNo({ request, error, misfit, isUnmatched: code === 'NOT_FOUND', fault })
    })
    .onTransform({ as: 'global' }, ({ request, route }) => {
      getRequestContext(request).route = route
    })
}

const bringsMore = new Set(['POST', 'PUT'])
/** POSTs that ask, or change what is there: the others bring something. */
const bringsNothing =
  /(?:\/credits\/balance|\/topup\/create\/[^/]+|\/me\/notes\/read|\/apps\/[^/]+\/restore|\/release)$/

/**
 * An API takes nothing new while the disk has less free than DISK_FLOOR_BYTES: the rest is for what
 * is under way, where money is settled and things are changed or deleted. All that a page sends is
 * a POST, what makes room too, so there each form that brings what is new looks by itself.
 */
const takingNoMore =
  (ctx: AppContext) =>
  ({ request }: { request: Request }): void => {
    if (!bringsMore.has(request.method) || bringsNothing.test(pathOf(request.url))) return
    ctx.storage.requireFreeSpace(0)
  }

/** A router that says no as the Agent API does. */
export const mountAgentApi = (ctx: AppContext) =>
  mount(ctx, ({ request: { method, url }, error, misfit, isUnmatched, fault }) => {
    if (isUnmatched) return hosting.unknownOperationResponse(method, pathOf(url), ctx.urls.base)
    const refusal = misfit && new ApiError('bad_request', { problem: problemOf(misfit, url) })
    return hosting.errorResponse(refusal ?? error, () => fault(hosting.internalErrorResponse))
  }).onRequest(takingNoMore(ctx))

/** A router that says no as the gateway does. */
export const mountGateway = (ctx: AppContext) =>
  mount(ctx, ({ request: { method, url }, error, misfit, isUnmatched, fault }) => {
    if (isUnmatched) return gateway.unknownOperationResponse(method, pathOf(url))
    const refusal = misfit && new ApiError('bad_request', validationProblem(misfit.valueError))
    return gateway.errorResponse(refusal ?? error, () =>
      fault((requestId) => gateway.internalErrorResponse(requestId, error)),
    )
  }).onRequest(takingNoMore(ctx))

/** What does not fit in the path or the query, without repeating what was sent. */
function problemOf({ valueError, value }: ValidationError, url: string): string {
  const { problem, param } = validationProblem(valueError)
  if (param) return problem
  // The framework forgets which number was out of its range, and keeps only the number.
  const { searchParams } = new URL(url)
  const [named] = [...searchParams].find(([, text]) => Number(text) === value) ?? []
  const field = named === undefined ? 'What stands in the path' : `"${named}"`
  return `${field} ${valueError ? `must be ${describeSchema(valueError.schema)}` : 'does not fit'}.`
}
