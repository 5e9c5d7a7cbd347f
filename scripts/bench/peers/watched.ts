/**
 * Berth in a process that watches its own event loop: `bun watched.ts DATA_DIR`. Prints its port
 * and the port of a server that returns the longest stall since the last request, and the longest
 * run of the main thread without a return to the loop, both in milliseconds.
 */
import { readFileSync } from 'node:fs'

import { loadConfig } from '../../../src/kernel/config/load.ts'
import { serve } from '../../../src/server/http/server.ts'

const config = loadConfig({ DATA_DIR: Bun.argv[2] ?? '', PORT: '0' })
const { origin } = await serve(config)
const own = `/proc/self/task/${process.pid}/schedstat`
const ranMs = (): number => Number(readFileSync(own, 'utf8').split(' ')[0]) / 1e6

let longest = { wall: 0, ran: 0 }
let last = { wall: performance.now(), ran: ranMs() }
setInterval(() => {
  const now = { wall: performance.now(), ran: ranMs() }
  longest.wall = Math.max(longest.wall, now.wall - last.wall)
  longest.ran = Math.max(longest.ran, now.ran - last.ran)
  last = now
}, 1)
const watch = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  fetch() {
    const reported = longest
    longest = { wall: 0, ran: 0 }
    return Response.json(reported)
  },
})
console.log(`${new URL(origin).port} ${watch.port}`)
