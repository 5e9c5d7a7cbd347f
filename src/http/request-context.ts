import { addressGroup } from '../core/address.ts'

/** Stands for the address in what this process asks of itself: that is no visit, and not logged. */
export const inProcessPeer = 'this process'

/** What is known of one request while it runs: for limits, for the log and for `x-request-id`. */
export interface RequestContext {
  readonly id: string
  /** The client's address, behind trusted proxies the one they name. */
  readonly address: string
  /** Who a trusted proxy says is signed in. */
  readonly vouchedFor?: string | undefined
  /** The route's pattern ("/api/apps/:id"), known once a route has matched. */
  route?: string
  /** The first letters of the key, once it was found. */
  keyPrefix?: string
  /** Lets the socket be silent, or no more, for what has a clock of its own. */
  mayBeSilent?: ((isAllowed: boolean) => void) | undefined
}

const visits = new WeakMap<Request, RequestContext>()

/** Notes a visit for a request before it is routed. */
export const setRequestContext = (request: Request, visit: RequestContext): void => {
  visits.set(request, visit)
}

/** The visit of a request that came through the front door. */
export function requestContextOf(request: Request): RequestContext {
  const visit = visits.get(request)
  if (!visit) throw new Error('a request that did not come through the front door')
  return visit
}

/** What limits count a request by: its client's address, or the group that one is of. */
export const callerAddress = (request: Request): string =>
  addressGroup(requestContextOf(request).address)

/** Tells the visit of a request, where it has one, that the whole body is there. */
export const bodyRead = (request: Request): void => visits.get(request)?.mayBeSilent?.(true)

/** The path of an absolute address, as URL has it in `pathname`, for a quarter of the time. */
export function pathOf(url: string): string {
  const start = url.indexOf('/', url.indexOf('//') + 2)
  if (start < 0) return '/'
  const query = url.indexOf('?', start)
  return query < 0 ? url.slice(start) : url.slice(start, query)
}
