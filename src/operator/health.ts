import type { AppContext } from '../context.ts'
import { requestContextOf } from '../http/request-context.ts'
import { pingMs } from '../limits.ts'

/**
 * /healthz says that the process answers; /readyz that its database and its files do too, and
 * whether its disk is below the floor. They pass no router, since who waits for a house to start
 * asks for them first. Undefined leaves a request to the routes.
 */
export function healthAnswer(
  ctx: AppContext,
  request: Request,
  path: string,
): Response | Promise<Response> | undefined {
  const isAsked = path === '/healthz' || path === '/readyz'
  if (!isAsked || (request.method !== 'GET' && request.method !== 'HEAD')) return undefined
  requestContextOf(request).route = path
  return path === '/healthz' ? Response.json({ ok: true }) : readiness(ctx)
}

async function readiness(ctx: AppContext): Promise<Response> {
  try {
    // Who watches wants an answer also where a database hangs.
    const late = Bun.sleep(pingMs).then(() => Promise.reject(new Error('The database is silent.')))
    await Promise.race([ctx.db.ping(), late])
    // All that is there can still be read, so it is no reason to send visitors away.
    const isFull = ctx.storage.free() < ctx.config.diskFloorBytes
    return Response.json({ ok: true, ...(isFull && { disk: 'full' }) })
  } catch (error) {
    ctx.log.fault('not ready', error)
    return Response.json({ ok: false }, { status: 503 })
  }
}
