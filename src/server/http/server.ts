import { join } from 'node:path'

import { modelSettingWarnings } from '../../apps/model-call.ts'
import { flushOpens } from '../../apps/opens.ts'
import { isSocketPassed, originAt } from '../../kernel/config/load.ts'
import type { Config } from '../../kernel/config/settings.ts'
import type { AppContext } from '../../kernel/context.ts'
import { parseHost } from '../../kernel/http/host.ts'
import { inProcessAddress } from '../../kernel/http/request-context.ts'
import { webSocketOptions, withoutUpgraded } from '../../kernel/http/web-socket.ts'
import { lazy } from '../../kernel/lazy.ts'
import { closeMs, cutMs, drainMs } from '../../kernel/limits.ts'
import { openLog } from '../../kernel/log.ts'
import { errorCodeOf, messageOf } from '../../kernel/text.ts'
import { second, stopwatch, systemClock } from '../../kernel/time.ts'
import { networkWaitMs } from '../../money/payments/limits.ts'
import { checkNetworks } from '../../money/payments/networks.ts'
import { flushKeyNetworks } from '../../people/agents/keys.ts'
import { lockFolder } from '../../store/folder-lock.ts'
import { Journal } from '../../store/journal.ts'
import { claimPlace } from '../../store/place.ts'
import { settlementsJournal } from '../../store/restore-swap.ts'
import { closeContext, createContext } from '../context.ts'
import type { Certificate, Listener } from '../https/https.ts'
import { openControlSocket } from '../operator/control.ts'
import { startMaintenance } from './background-work.ts'
import type { RequestHandler } from './middleware.ts'
import { createRouter, respondStarting } from './router.ts'

/** A socket without traffic is closed after so many seconds, as is one with half a body. */
const idleSecondsMax = 60
const drainStepMs = 20

/**
 * More than any route accepts. Each route limits its own body and explains the limit; the runtime
 * would respond with a bare 413.
 */
const requestBytesMax = 1_024 * 1_048_576

export interface RunningServer {
  ctx: AppContext
  origin: string
  /** Sends a request of this process to its own router. */
  send(request: Request): Promise<Response>
  /**
   * Stops accepting requests, waits at most 24 s for running ones, cuts the others and closes the
   * database, all within 30 s. A database that does not respond is left open.
   */
  stop(): Promise<void>
}

class PortInUse extends Error {
  constructor(config: Config) {
    super(
      `Port ${config.port} on ${config.host} is in use. Choose another: berth serve --port 3001`,
    )
    this.name = 'PortInUse'
  }
}

/** The wait for chains at a start, and the steps of a stop, in milliseconds: see limits.ts. */
const serverWaits = { networkWaitMs, drainMs, cutMs, closeMs }

/** Starts a server. Throws FolderInUse, PortInUse, OtherNetwork and FilesElsewhere. */
export async function serve(config: Config, waits = serverWaits): Promise<RunningServer> {
  const unlock = lockFolder(config.dataDir)
  let handle: RequestHandler = respondStarting
  const server = await openListener(config, (...args) => handle(...args))
  const { certificates } = server
  const name = localHosts.has(config.host) ? 'localhost' : config.host
  const origin = certificates ? config.appUrl : originAt(name, server.port ?? config.port)
  const ctx = await createContext(config, origin)
  if (certificates) ctx.certificates = certificates
  for (const why of [...config.warnings, ...modelSettingWarnings(ctx)]) {
    ctx.log.warn('config.warning', { why })
  }
  await ctx.presence.start()
  ctx.signals.start()
  const leavePlace = await checkNetworks(ctx, waits.networkWaitMs)
    .then(() => claimPlace(ctx))
    .catch(async (error: unknown) => {
      await Promise.all([closeContext(ctx), server.stop(true)])
      unlock()
      throw error
    })
  const stopping = new AbortController()
  // The journal is read beside the rest of the start, and before the first request.
  const replayed = replayJournal(ctx)
  const router = createRouter(ctx, { stopping: stopping.signal })
  await replayed
  handle = router.handle
  server.accept?.()
  // The start does not wait for payments of an earlier process.
  void ctx.x402?.resume().catch((error: unknown) => ctx.log.error('x402.start', error))
  const closeControl = openControlSocket(ctx)
  const stopMaintenance = startMaintenance(ctx)
  const stop = lazy(async () => {
    ctx.state.isStopping = true
    // A load balancer stops sending requests before the port closes.
    await Bun.sleep(config.stopDelaySeconds * second)
    stopMaintenance()
    stopping.abort()
    await drain(ctx, server, closeControl, waits)
    leavePlace()
    unlock()
  })
  return { ctx, origin, send: async (request) => handle(request, inProcessAddress), stop }
}

/** Settles what an earlier process left in the journal. A server without a journal still serves. */
async function replayJournal(ctx: AppContext): Promise<void> {
  try {
    const path = join(ctx.config.dataDir, settlementsJournal)
    ctx.pendingSettlements.replay(ctx, await Journal.open(path, ctx.folderSecret))
  } catch (error) {
    ctx.log.error('ledger.journal_unavailable', error)
  }
}

/** Waits for running requests and jobs, cuts the others, and closes what the server has open. */
async function drain(
  ctx: AppContext,
  server: Listener,
  closeControl: () => Promise<void>,
  { drainMs, cutMs, closeMs }: typeof serverWaits,
): Promise<void> {
  // Its promise waits for idle sockets too.
  void server.stop()
  let until = stopwatch() + drainMs
  const timeout = () => Bun.sleep(Math.max(0, until - stopwatch()))
  const jobsEnd = ctx.jobs.close(drainMs)
  const { sessions } = ctx.state
  for (const session of sessions) session.stop()
  const respond = async (): Promise<void> => {
    while (server.pendingRequests + sessions.size > 0 && stopwatch() < until) {
      await Bun.sleep(drainStepMs)
    }
  }
  await respond()
  ctx.state.shutdown.abort()
  until = Math.max(until, stopwatch() + cutMs)
  await respond()
  await Promise.race([jobsEnd, timeout()])
  const close = async (): Promise<boolean> => {
    await jobsEnd
    await server.stop(true)
    await Promise.race([closeControl(), timeout()])
    await flushOpens(ctx).catch((error: unknown) => ctx.log.error('opens.lost', error))
    await flushKeyNetworks(ctx).catch((error: unknown) => ctx.log.error('networks.lost', error))
    await closeContext(ctx)
    return true
  }
  const isClosed = await Promise.race([close(), Bun.sleep(closeMs)])
  if (!isClosed) ctx.log.warn('server.close_incomplete', { why: 'The database did not close.' })
}

/** Hosts on which this machine reaches the server as localhost. */
const localHosts = new Set(['0.0.0.0', '::', '127.0.0.1'])

/**
 * Returns a function that completes the URL of a request, because HTTP/1.0 allows requests without
 * Host. It returns undefined for an invalid Host, such as two of them (RFC 9112, 3.2).
 */
function urlCompleter(): (request: Request) => Request | undefined {
  // Most requests have the host of the one before, and a valid host makes every URL valid.
  let lastHost: string | undefined
  return (request) => {
    const { url } = request
    const host = request.headers.get('host')
    if (host === null) {
      return url.startsWith('/') ? new Request(`http://localhost${url}`, request) : request
    }
    if (host === lastHost) return request
    if (!parseHost(request) || !URL.canParse(url)) return undefined
    lastHost = host
    return request
  }
}

/**
 * Listens for HTTP, on the socket of systemd where it passed one, or for HTTPS where the server has
 * hosts of its own. Throws PortInUse.
 */
async function openListener(config: Config, handle: RequestHandler): Promise<Listener> {
  if (isSocketPassed() && config.httpsHosts.length === 0) return listenOnPassed(config, handle)
  const listener: Listener = listen(config, handle)
  if (config.httpsHosts.length === 0) return listener
  // Several servers of this process share the port below, which another process must not have.
  await listener.stop(true)
  const { HttpsListener } = await import('../https/https.ts')
  const open = (certificate: Certificate) => listen(config, handle, certificate)
  const https = new HttpsListener(config, systemClock, openLog(systemClock), open)
  await https.certificates.start()
  return https
}

async function listenOnPassed(config: Config, handle: RequestHandler): Promise<Listener> {
  const { listenOnPassedSocket } = await import('./socket-activation.ts')
  const server = listen({ ...config, host: '127.0.0.1', port: 0 }, handle)
  return {
    port: config.port,
    accept: () => listenOnPassedSocket(server.port ?? 0),
    get pendingRequests() {
      return server.pendingRequests
    },
    stop: (closeActive) => server.stop(closeActive),
  }
}

function listen(config: Config, handle: RequestHandler, certificate?: Certificate) {
  const completeUrl = urlCompleter()
  try {
    return Bun.serve({
      hostname: config.host,
      port: config.port,
      idleTimeout: idleSecondsMax,
      maxRequestBodySize: requestBytesMax,
      development: false,
      // Outside development mode, two processes could otherwise listen on one port.
      reusePort: certificate !== undefined,
      ...(certificate && { tls: certificate, http2: true }),
      fetch: (incoming, server) => {
        const socketAddress = server.requestIP(incoming)?.address ?? ''
        const request = completeUrl(incoming)
        if (!request) return new Response('The Host header is invalid.', { status: 400 })
        const response = handle(request, socketAddress, {
          pauseIdleTimeout: (isPaused) => server.timeout(incoming, isPaused ? 0 : idleSecondsMax),
          upgrade: (data, headers) => server.upgrade(incoming, { data, headers }),
        })
        return incoming.headers.has('upgrade') ? withoutUpgraded(response) : response
      },
      websocket: webSocketOptions,
    })
  } catch (error) {
    if (errorCodeOf(error) === 'EADDRINUSE') throw new PortInUse(config)
    const why = messageOf(error)
    throw new Error(
      `The server cannot listen on HOST ${config.host} and PORT ${config.port}: ${why}.`,
    )
  }
}
