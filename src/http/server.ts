import type { Config } from '../config/settings.ts'
import { originAt } from '../config/urls.ts'
import { type AppContext, closeContext, createContext } from '../context.ts'
import { errorCodeOf, messageOf } from '../core/text.ts'
import { stopwatch } from '../core/time.ts'
import { hasOtherProcesses } from '../db/process.ts'
import { flushOpens } from '../hosting/apps/opens.ts'
import { modelSettingWarnings } from '../hosting/models/model-settings.ts'
import { closeMs, drainMs } from '../limits.ts'
import { openControlSocket } from '../operator/control.ts'
import { startMaintenance } from '../operator/maintenance.ts'
import { lockFolder } from '../storage/folder-lock.ts'
import type { RequestHandler } from './middleware.ts'
import { inProcessPeer } from './request-context.ts'
import { createRouter, respondStarting } from './router.ts'

/** A socket on which nothing moves is closed: nobody may hold one, or half a body, for ever. */
const idleSecondsMax = 60
const drainStepMs = 20

/**
 * Far more than any route takes: each reads within its own bound and says so in its own words,
 * where the runtime would answer a bare 413.
 */
const requestBytesMax = 1_024 * 1_048_576

/** A house that answers. */
export interface Serving {
  ctx: AppContext
  origin: string
  /** Brings a request of this process to its own front door. */
  send(request: Request): Promise<Response>
  /**
   * Stops accepting, lets what runs finish for at most 30 s, and closes the database, or leaves one
   * that does not answer.
   */
  stop(): Promise<void>
}

/** The port is taken by another program. */
class PortInUse extends Error {
  constructor(config: Config) {
    super(
      `Port ${config.port} on ${config.host} is in use. Choose another: berth serve --port 3001`,
    )
    this.name = 'PortInUse'
  }
}

/** The folder has one owner, so a second server has another one. */
const shared =
  'Another Berth is on this PostgreSQL database. The files of apps stay in the data folder of each: ' +
  'if that one is a server too, links of either break at the other. Run one.'

/** Opens the house of `config` and answers on its port. Throws FolderInUse, PortInUse. */
export async function serve(config: Config): Promise<Serving> {
  const release = lockFolder(config.dataDir)
  let handle: RequestHandler = respondStarting
  const server = listen(config, (...args) => handle(...args))
  const name = ownHosts.has(config.host) ? 'localhost' : config.host
  const origin = originAt(name, server.port ?? config.port)
  const ctx = await createContext(config, origin)
  const warnings = [...config.warnings, ...modelSettingWarnings(ctx)]
  for (const why of warnings) ctx.log.warn('config', { why })
  if (await hasOtherProcesses(ctx.db.read)) ctx.log.warn('database.shared', { why: shared })
  const ending = new AbortController()
  ;({ handle } = createRouter(ctx, { stopping: ending.signal }))
  const closeControl = openControlSocket(ctx)
  const endChores = startMaintenance(ctx)
  let stopping: Promise<void> | undefined
  const stop = async (): Promise<void> => {
    endChores()
    ending.abort()
    // What stop() promises waits for sockets that only might ask something more.
    void server.stop()
    const until = stopwatch() + drainMs
    const left = () => Bun.sleep(Math.max(0, until - stopwatch()))
    const jobsEnd = ctx.jobs.close(drainMs)
    while (server.pendingRequests > 0 && stopwatch() < until) await Bun.sleep(drainStepMs)
    await Promise.race([jobsEnd, left()])
    const close = async (): Promise<boolean> => {
      await jobsEnd
      await server.stop(true)
      await Promise.race([closeControl(), left()])
      await flushOpens(ctx).catch((error: unknown) => ctx.log.error('opens were lost', error))
      await closeContext(ctx)
      return true
    }
    const isClosed = await Promise.race([close(), Bun.sleep(closeMs)])
    if (!isClosed) ctx.log.warn('serve.left', { why: 'The database did not close.' })
    release()
  }
  return {
    ctx,
    origin,
    send: async (request) => handle(request, inProcessPeer),
    stop: () => (stopping ??= stop()),
  }
}

/** The addresses at which this machine reaches itself by its own name. */
const ownHosts = new Set(['0.0.0.0', '::', '127.0.0.1'])

/** A request with a whole address: HTTP/1.0 may come without a Host. Undefined for a bad one. */
function hostReader(): (request: Request) => Request | undefined {
  // Most requests name the host that the last one did, and no path behind a good host is bad.
  let known: string | undefined
  return (request) => {
    const { url } = request
    if (known !== undefined && url.startsWith(known)) return request
    if (URL.canParse(url)) {
      known = /^\w+:\/\/[^/?#]+\//.exec(url)?.[0]
      return request
    }
    const isUnnamed = request.headers.get('host') === null && url.startsWith('/')
    return isUnnamed ? new Request(`http://localhost${url}`, request) : undefined
  }
}

function listen(config: Config, answer: RequestHandler) {
  const withHost = hostReader()
  try {
    return Bun.serve({
      hostname: config.host,
      port: config.port,
      idleTimeout: idleSecondsMax,
      maxRequestBodySize: requestBytesMax,
      development: false,
      // Out of development mode two processes could otherwise listen on one port.
      reusePort: false,
      fetch: (request, server) => {
        const peer = server.requestIP(request)?.address ?? ''
        const named = withHost(request)
        return named
          ? answer(named, peer, (may) => server.timeout(request, may ? 0 : idleSecondsMax))
          : new Response('The Host of this request is no host.', { status: 400 })
      },
    })
  } catch (error) {
    if (errorCodeOf(error) === 'EADDRINUSE') throw new PortInUse(config)
    const why = messageOf(error)
    throw new Error(`HOST ${config.host} and PORT ${config.port} cannot be had: ${why}.`)
  }
}
