import { openApp } from './app.ts'
import { type Door, openDoor } from './door.ts'
import { closeHouse, type House, openHouse } from './house.ts'
import { drainMs } from './limits.ts'
import { startChores } from './operator/chores.ts'
import { openControl } from './operator/control.ts'
import type { Config } from './settings.ts'
import { ownFolder } from './store/owner.ts'

/** More than any body a route takes; each route has its own, smaller bound. */
const requestBytesMax = 64 * 1_048_576

/** A house that answers. */
export interface Serving {
  house: House
  origin: string
  /** Brings a request of this process to its own front door. */
  send(request: Request): Promise<Response>
  /** Stops accepting, lets what runs finish for at most 30 s, and closes the database. */
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

const starting = (): Response =>
  new Response('Starting.', { status: 503, headers: { 'retry-after': '1' } })

/** Opens the house of `config` and answers on its port. Throws FolderInUse, PortInUse. */
export async function serve(config: Config): Promise<Serving> {
  const release = ownFolder(config.dataDir)
  let door: Door = starting
  const server = listen(config, (request, peer) => door(request, peer))
  const name = config.host === '0.0.0.0' || config.host === '127.0.0.1' ? 'localhost' : config.host
  const origin = `http://${name.includes(':') ? `[${name}]` : name}:${server.port}`
  const house = await openHouse(config, origin)
  door = openDoor(house, openApp(house))
  const closeControl = openControl(house)
  const endChores = startChores(house)
  let stopping: Promise<void> | undefined
  const stop = async (): Promise<void> => {
    endChores()
    await Promise.race([server.stop(), Bun.sleep(drainMs)])
    await server.stop(true)
    await closeControl()
    await closeHouse(house)
    release()
  }
  return {
    house,
    origin,
    send: async (request) => door(request, 'this process'),
    stop: () => (stopping ??= stop()),
  }
}

function listen(
  config: Config,
  answer: (request: Request, peer: string) => Response | Promise<Response>,
) {
  try {
    return Bun.serve({
      hostname: config.host,
      port: config.port,
      idleTimeout: 0,
      maxRequestBodySize: requestBytesMax,
      development: false,
      // Out of development mode two processes could otherwise listen on one port.
      reusePort: false,
      fetch: (request, server) => answer(request, server.requestIP(request)?.address ?? ''),
    })
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EADDRINUSE') {
      throw new PortInUse(config)
    }
    throw error
  }
}
