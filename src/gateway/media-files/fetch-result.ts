import type { AppContext } from '../../context.ts'
import { GuardedFetchError } from '../../core/fetch.ts'
import type { CallDeadlines } from '../paid/deadlines.ts'
import { readBoundedBytes } from '../paid/response-body.ts'

/** A result that an upstream names by its URL. */
export interface NamedResult {
  upstream: string
  url: string
  bytesMax: number
}

/**
 * Fetches a result of an upstream, so that this server can serve it for 24 hours (document 2,
 * section 8). Returns `blocked` for an address that must not be fetched, undefined for any other
 * failure. Both warn the operator.
 */
export async function fetchResult(
  { upstreams, log }: Pick<AppContext, 'upstreams' | 'log'>,
  { upstream: name, url, bytesMax }: NamedResult,
  deadlines: CallDeadlines,
): Promise<Uint8Array | 'blocked' | undefined> {
  const upstream = upstreams.find(name)
  if (!upstream) return undefined
  // The URL is not logged: it may be signed.
  const warn = (why: string) => void log.warn('media.not_fetched', { upstream: name, why })
  try {
    const response = await upstream.download({ url, bytesMax, signal: deadlines.signal })
    if (!response.ok) {
      await response.body?.cancel()
      return warn(`status ${response.status}`)
    }
    const bytes = await readBoundedBytes(response, deadlines, bytesMax)
    return bytes ?? warn('broke off, or too long')
  } catch (error) {
    if (!(error instanceof GuardedFetchError)) return warn('no response')
    warn(error.reason)
    return 'blocked'
  }
}
