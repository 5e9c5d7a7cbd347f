import { getRequestContext } from '../../kernel/http/request-context.ts'
import { pingMs } from '../../kernel/limits.ts'
import { openMethods } from '../../money/payments/coins/method.ts'
import type { AppContext } from '../context.ts'

/**
 * Responds to `/healthz` (the process runs) and `/readyz` (its database responds and no table of
 * the ledger is damaged, with notes on files, a full disk and the chains of top-ups). Both bypass
 * the router, because they are called while the server starts. Returns undefined for every other
 * request.
 */
export function healthResponse(
  ctx: AppContext,
  request: Request,
  path: string,
): Response | Promise<Response> | undefined {
  const isHealthPath = path === '/healthz' || path === '/readyz'
  if (!isHealthPath) return undefined
  getRequestContext(request).route = path
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    return Response.json({ ok: false }, { status: 405, headers: { allow: 'GET, HEAD' } })
  }
  return path === '/healthz' ? Response.json({ ok: true }) : readiness(ctx)
}

async function readiness(ctx: AppContext): Promise<Response> {
  if (ctx.state.isStopping) return Response.json({ ok: false, stopping: true }, { status: 503 })
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
    const [topups, files] = await Promise.all([topupHealth(ctx), filesHealth(ctx)])
    return Response.json({
      ok: true,
      ...(isFull && { disk: 'full' }),
      ...(files && { files }),
      ...(topups && { topups }),
    })
  } catch (error) {
    ctx.log.error('not ready', error)
    return Response.json({ ok: false }, { status: 503 })
  }
}

/**
 * Returns a note where the bucket of the files does not respond. The server stays ready, because
 * cached files and the gateway work, and other servers have the same bucket.
 */
async function filesHealth({ storage }: AppContext): Promise<'unavailable' | undefined> {
  const slow = Bun.sleep(pingMs).then(() => 'slow')
  return (await Promise.race([storage.problem(), slow])) === undefined ? undefined : 'unavailable'
}

/** Returns whether each chain of the top-ups can be seen; undefined without top-ups. */
async function topupHealth(ctx: AppContext): Promise<Record<string, boolean> | undefined> {
  if (openMethods(ctx.config).length === 0) return undefined
  const { readWatchers } = await import('../../money/payments/coins/watchers.ts')
  return Object.fromEntries((await readWatchers(ctx)).map(({ network, ok }) => [network, ok]))
}
