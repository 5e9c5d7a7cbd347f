import { AddressClient } from '../../kernel/client.ts'
import type { AppContext } from '../../kernel/context.ts'
import type { RequestContext } from '../../kernel/http/request-context.ts'
import { newOrderedId } from '../../kernel/ids.ts'
import type { RateLimit } from '../../kernel/rate-limit.ts'
import type { TrafficPart } from '../../kernel/traffic.ts'
import { networkRejection } from '../../money/keys/restrictions.ts'

/**
 * Counts a call by the restriction of its network and the rate of its address. Work beyond the call
 * itself is charged to the rate. `isCounted`: the rate has counted the call already. Returns why
 * the call is rejected, if it is.
 */
export function admit(
  ctx: AppContext,
  context: RequestContext,
  limit: RateLimit,
  isCounted = false,
) {
  const { client } = context
  const { group } = client
  const rejection = networkRejection(ctx, client) ?? (isCounted ? undefined : limit.takeOne(group))
  if (rejection) context.cause = 'rate_limited'
  client.chargeRate = (units) => limit.add(group, units)
  return rejection
}

/** Returns the context of a call inside a request, such as one of several tools. */
export const innerContext = (ctx: AppContext, outer: RequestContext): RequestContext => ({
  id: newOrderedId(ctx.clock.now()),
  client: new AddressClient(outer.client.address, ctx.state.costs),
  bodyArrivals: outer.bodyArrivals,
  span: ctx.telemetry?.beginRequest(null),
  acceptsTokens: outer.acceptsTokens ?? false,
})

const unknownPathCharsMax = 200

/** The facts of a call that has ended. */
interface EndedCall {
  context: RequestContext
  method: string
  status: number
  /** Milliseconds that it took. */
  ms: number
}

/** Counts a call for the console and the metrics, writes its line of the log and ends its span. */
export function record(
  ctx: AppContext,
  part: TrafficPart,
  { context, method, status, ms }: EndedCall,
): void {
  const { id, client, route, cause, span } = context
  const { address, account, key } = client
  const path = context.unknownPath?.slice(0, unknownPathCharsMax)
  client.charge('requests', 1)
  ctx.state.traffic.count(part, status, ms)
  if (span) ctx.telemetry?.endRequest(span, { method, route, status, ms, requestId: id, key })
  const at = ctx.clock.now()
  const known = { id, at, method, route: route ?? path ?? '', status, ms, key, account, address }
  ctx.state.observations.addRequest(part, route !== undefined, { ...known, cause })
  ctx.log.info('request', {
    id,
    method,
    route: route ?? null,
    path,
    status,
    ms: Math.round(ms * 10) / 10,
    key: key ?? null,
    address,
  })
}

/** Returns whether a call of this method may change what other servers must learn of. */
export const mayChange = ({ db }: AppContext, method: string): boolean =>
  db.kind === 'postgres' && !/^(GET|HEAD|OPTIONS)$/.test(method)
