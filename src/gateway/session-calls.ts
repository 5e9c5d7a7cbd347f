import type { AppContext } from '../kernel/context.ts'
import { ApiError } from '../kernel/errors.ts'
import type { IncomingCall, Operation } from '../kernel/http/operation.ts'
import { clientAddressGroup, senderOf } from '../kernel/http/request-context.ts'
import { lookUp } from '../kernel/schema.ts'
import { perform } from '../money/perform.ts'
import type { Spender } from './authentication.ts'

/**
 * The operations of the gateway (document 2, section 4) by the starts of their paths. They are
 * imported with the first request, to keep the start fast.
 */
const lists: Record<string, () => Promise<readonly Operation[]>> = {
  chat: async () => (await import('./openai-chat/operations.ts')).chatOperations,
  messages: async () => (await import('./messages-api/operations.ts')).messageOperations,
  responses: async () => (await import('./responses/operations.ts')).responseOperations,
  models: async () => (await import('./gemini/operations.ts')).operations,
  images: async () => (await import('./images/operations.ts')).imageOperations,
  audio: async () => (await import('./audio/operations.ts')).audioOperations,
  embeddings: async () => (await import('./embeddings/operations.ts')).embeddingOperations,
  videos: async () => (await import('./videos/operations.ts')).videoOperations,
  files: async () => (await import('./files/operations.ts')).fileOperations,
}

/**
 * Returns an operation of the gateway by its route, such as "/chat/completions". The methods of
 * Google's models have the path "/models/*". Throws `not_found`.
 */
export async function getOperation(method: string, path: string): Promise<Operation> {
  const [, start = ''] = path.split('/')
  const route = start === 'models' ? '/*' : path
  const found = (await lookUp(lists, start)?.())?.find(
    (one) => one.method === method && one.path === route,
  )
  if (found) return found
  throw new ApiError('not_found', { what: 'page' })
}

/**
 * Counts a call that a balance pays for instead of a key, within the rate limit of the client's
 * address. Throws `rate_limited`.
 */
export function countPaidCall(ctx: AppContext, request: Request): void {
  const { gatewayRequests: rate } = ctx.state.limits
  const retryAfter = rate.take(clientAddressGroup(request))
  if (retryAfter !== undefined) throw new ApiError('rate_limited', { max: rate.max, retryAfter })
}

/**
 * Performs an operation of the gateway that a balance pays for instead of a key, for a call that
 * `countPaidCall` has counted. Returns its outcome. Throws its errors.
 */
export async function performPaid(
  ctx: AppContext,
  request: Request,
  spender: Spender,
  operation: Operation,
  call: Pick<IncomingCall, 'params' | 'source'> & Partial<Pick<IncomingCall, 'query'>>,
): Promise<unknown> {
  return perform(ctx, operation, {
    ...senderOf(request),
    signal: request.signal,
    resource: '',
    caller: spender,
    query: {},
    ...call,
  })
}
