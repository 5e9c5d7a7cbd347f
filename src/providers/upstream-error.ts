import { errorCodeOf } from '../core/text.ts'
import type { UpstreamErrorKind } from './upstream.ts'

/** Why there was no answer: the caller's own signal, a place nobody listens at, or a cut. */
export function classifyNetworkError(error: unknown, signal: AbortSignal): UpstreamErrorKind {
  if (signal.aborted) return isTimeout(signal.reason) ? 'timeout' : 'aborted'
  const code = errorCodeOf(error)
  if (/^(Malformed|Invalid)|header/i.test(code)) return 'unreadable'
  return /^(ECONNREFUSED|ENOTFOUND|EPROTO|E(HOST|NET)UNREACH)|CERT/.test(code) ? 'refused' : 'reset'
}

const isTimeout = (reason: unknown): boolean =>
  reason instanceof Error && reason.name === 'TimeoutError'
