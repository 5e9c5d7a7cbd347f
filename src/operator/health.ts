import type { AppContext } from '../context.ts'
import { getRequestContext } from '../http/request-context.ts'
import { pingMs } from '../limits.ts'

/**
 * Responds to `/healthz` (the process runs) and `/readyz` (its database and files respond, with a
 * note on a full disk; no table of the ledger is damaged). Both bypass the router, because they
 * are called while the server starts. Returns undefined for every other request.
 */
export function healthResponse(
  ctx: AppContext,
  request: Request,
  path: string,
): Response | Promise<Response> | undefined {
  const isHealthPath = path === '/healthz' || path === '/readyz'
  if (!isHealthPath || (request.method !== 'GET' && request.method !== 'HEAD')) return undefined
  getRequestContext(request).route = path
  return path === '/healthz' ? Response.json({ ok: true }) : readiness(ctx)
}

async function readiness(ctx: AppContext): Promise<Response> {
  try {
    // A monitor needs a response also while the database hangs.
    const timeout = Bun.sleep(pingMs).then(() =>
      Promise.reject(new Error(`The database did not respond within ${pingMs} ms.`)),
    )
    await Promise.race([ctx.db.ping().then(() => ctx.damage.probe()), timeout])
    if (ctx.damage.table !== undefined) {
      return Response.json({ ok: false, ledger: 'damaged' }, { status: 503 })
    }
    // A full disk still serves reads, so the server stays ready.
    const isFull = ctx.storage.free() < ctx.config.diskFloorBytes
    return Response.json({ ok: true, ...(isFull && { disk: 'full' }) })
  } catch (error) {
    ctx.log.error('not ready', error)
    return Response.json({ ok: false }, { status: 503 })
  }
}
