import type { Client } from '../../kernel/client.ts'
import { ApiError } from '../../kernel/errors.ts'
import { hour, second } from '../../kernel/time.ts'
import type { AppContext } from '../../server/context.ts'
import { accountOf } from '../ledger/accounts.ts'
import type { Key } from './keys.ts'

/** The time after which a blocked client may ask again, in seconds. */
const blockedRetryAfter = hour / second

/** A limit of 0 means that the operator blocked the client. */
interface Rejection {
  max: number
  retryAfter: number
}

/** Counts a request by the restriction of its network. Returns why it is rejected, if it is. */
export const networkRejection = (ctx: AppContext, { prefix }: Client): Rejection | undefined =>
  findRejection(ctx, `address:${prefix}`)

/**
 * Records whose key a request sent, so that costs and queues count by it too. Counts the request by
 * the restrictions of the key and its account. Throws `rate_limited`.
 */
export function identifyClient(
  ctx: AppContext,
  client: Client,
  key: Pick<Key, 'prefix' | 'kind' | 'owner'>,
): void {
  client.key = key.prefix
  client.account = accountOf(key)
  const rejection = clientRejection(ctx, client)
  if (rejection) throw new ApiError('rate_limited', rejection)
}

/** Counts a request by the restrictions of a key and its account. Returns why it is rejected. */
export const clientRejection = (ctx: AppContext, client: Client): Rejection | undefined =>
  findRejection(ctx, `key:${client.key}`, `account:${client.account}`)

function findRejection(
  { restrictions, state }: AppContext,
  ...subjects: string[]
): Rejection | undefined {
  const found = restrictions.find(...subjects)
  if (!found) return undefined
  if (found.kind === 'block') return { max: 0, retryAfter: blockedRetryAfter }
  const { slowedRequests: limit } = state.limits
  const retryAfter = limit.take(found.subject)
  return retryAfter === undefined ? undefined : { max: limit.max, retryAfter }
}
