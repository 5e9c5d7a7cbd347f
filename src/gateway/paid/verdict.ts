import { isRecord } from '../../core/schema.ts'
import { systemClock } from '../../core/time.ts'
import { ApiError, type GatewayErrorName } from '../../errors.ts'
import { saysFiltered } from '../../providers/filtered.ts'
import { reasonIn } from '../../providers/reason.ts'
import { UpstreamFault } from '../../providers/upstream.ts'
import type { Watch } from './watch.ts'

/**
 * What an upstream that did not serve a request makes of it: the refusal that the client is told,
 * what is charged (`carried`: the prompt, for a client that left), and whether another upstream
 * may be tried.
 */
export interface Verdict {
  refusal: ApiError<GatewayErrorName>
  charges: 'nothing' | 'hold' | 'carried'
  another: boolean
}

const free = (refusal: ApiError<GatewayErrorName>, another: boolean): Verdict => ({
  refusal,
  charges: 'nothing',
  another,
})

const charged = (refusal: ApiError<GatewayErrorName>, charges: 'hold' | 'carried'): Verdict => ({
  refusal,
  charges,
  another: false,
})

/** The answer cannot be read, and the upstream bills it (document 2, section 7). */
export const unreadable: Verdict = charged(new ApiError('unreadable'), 'hold')
export const noContent: Verdict = free(new ApiError('no_content'), false)
export const filtered: Verdict = free(new ApiError('content_policy'), false)
/** Every upstream that might serve the request is out of order, or there is none. */
export const unavailable: Verdict = free(new ApiError('model_unavailable'), true)

const deadlinePassed: Verdict = charged(new ApiError('deadline'), 'hold')
/** Nobody is there to hear it. */
const clientLeft: Verdict = charged(new ApiError('gateway_unavailable'), 'carried')

/** The work was broken off by us, or the answer broke off. */
export const brokenOff = ({ cause }: Watch): Verdict =>
  cause === 'client' ? clientLeft : cause === 'deadline' ? deadlinePassed : unreadable

/** There was no answer at all. Throws what is no fault of an upstream. */
export function verdictOfFault(fault: unknown, watch: Watch): Verdict {
  if (watch.cause) return brokenOff(watch)
  if (!(fault instanceof UpstreamFault)) throw fault
  if (fault.kind === 'unreadable') return unreadable
  const isRefused = fault.kind === 'refused'
  const told = isRefused ? new ApiError('gateway_unavailable') : new ApiError('upstream_failed', {})
  return free(told, true)
}

/** Request Timeout and Too Early (RFC 9110, RFC 8470): the same request may come again. */
const notYet = [408, 425]

/** An answer that is no success, by its status and its body ("What the ledger says"). */
export function verdictOfStatus(
  status: number,
  said: string,
  headers: Headers,
  reason = reasonIn(said),
): Verdict {
  if (saysFiltered(said)) return filtered
  const retryAfter = waitOf(headers)
  if (status === 429)
    return free(new ApiError('upstream_busy', { retryAfter: retryAfter ?? 1 }), true)
  if ([401, 402, 403].includes(status)) return unavailable
  if (status >= 500 || notYet.includes(status)) {
    return free(new ApiError('upstream_failed', { retryAfter }), true)
  }
  // What an upstream does not know is the operator's to mend: its words would name their account.
  const isUnknown = status === 404
  return free(new ApiError('upstream_refused', isUnknown ? {} : reason), isUnknown)
}

/** An error within a stream, or within an answer with status 200. */
export function verdictOfError(error: unknown): Verdict {
  const code = isRecord(error) ? (error.status ?? error.code) : undefined
  const status = typeof code === 'number' && code >= 400 && code < 600 ? code : 502
  // The upstream's key is cut out of what refuses, and not of this: its words are not told.
  return verdictOfStatus(status, JSON.stringify({ error }), new Headers(), {})
}

const waitMax = 3_600

/** The seconds an upstream wants to be left alone, if it says so (RFC 9110, 10.2.3). */
function waitOf(headers: Headers): number | undefined {
  const said = headers.get('retry-after') ?? ''
  const seconds = Math.ceil(Number(said || NaN) || (Date.parse(said) - systemClock.now()) / 1_000)
  return seconds > 0 ? Math.min(seconds, waitMax) : undefined
}
