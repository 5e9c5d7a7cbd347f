import { GuardedFetchError } from '../../kernel/fetch.ts'
import { second } from '../../kernel/time.ts'
import type { AppContext } from '../../server/context.ts'
import type { CallDeadlines } from '../paid/deadlines.ts'
import { readBoundedBytes } from '../paid/response-body.ts'
import { isTransientStatus } from '../providers/error-body.ts'

/** A result that an upstream names by its URL. */
export interface NamedResult {
  upstream: string
  url: string
  bytesMax: number
}

/**
 * A result that could not be fetched. `blocked`: its address must not be fetched. `missing`: it is
 * not there. `unavailable`: a later attempt may succeed.
 */
export type Unfetched = 'blocked' | 'missing' | 'unavailable'

type FetchContext = Pick<AppContext, 'upstreams' | 'log'>

const retryMs = second

/**
 * Fetches a result of an upstream in at most two attempts, so that this server can serve it for 24
 * hours (document 2, section 8). Failures warn the operator.
 */
export async function fetchResult(
  ctx: FetchContext,
  result: NamedResult,
  deadlines: CallDeadlines,
): Promise<Uint8Array | Unfetched> {
  const first = await fetchOnce(ctx, result, deadlines)
  if (first instanceof Uint8Array || first === 'blocked' || deadlines.cause) return first
  // Some hosts serve a result only moments after its URL.
  await Bun.sleep(retryMs)
  return fetchOnce(ctx, result, deadlines)
}

async function fetchOnce(
  { upstreams, log }: FetchContext,
  { upstream: name, url, bytesMax }: NamedResult,
  deadlines: CallDeadlines,
): Promise<Uint8Array | Unfetched> {
  const upstream = upstreams.find(name)
  if (!upstream) return 'unavailable'
  // The URL is not logged: it may be signed.
  const fail = (kind: Unfetched, why: string): Unfetched => {
    log.warn('media.not_fetched', { upstream: name, why })
    return kind
  }
  try {
    const response = await upstream.download({ url, bytesMax, signal: deadlines.signal })
    const { ok, status, headers } = response
    const isTooLong = Number(headers.get('content-length')) > bytesMax
    if (!ok || isTooLong) {
      await response.body?.cancel()
      const isTransient = !ok && isTransientStatus(status)
      return fail(isTransient ? 'unavailable' : 'missing', ok ? 'too long' : `status ${status}`)
    }
    const bytes = await readBoundedBytes(response, deadlines, bytesMax)
    return bytes ?? fail('unavailable', 'broke off, or too long')
  } catch (error) {
    const isBlocked = error instanceof GuardedFetchError
    return isBlocked ? fail('blocked', error.reason) : fail('unavailable', 'no response')
  }
}
