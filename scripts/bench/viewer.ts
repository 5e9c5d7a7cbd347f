import { join } from 'node:path'

import {
  costUs,
  type Plan,
  requestFor,
  runLoad,
  type Target,
  targetAt,
  throughput,
  type Turn,
} from './load/load.ts'
import { pageOf } from './load/page.ts'
import {
  type BenchServer,
  etagOf,
  publishOn,
  spawnServer,
  startBerthServer,
} from './load/served.ts'
import { atLeast, type BenchRow } from './row.ts'
import { measureOpens } from './viewer-opens.ts'

const limit = 0.8
const plan = { connections: 32, turnMs: 100, rounds: 25 } satisfies Partial<Plan>

/** Returns the same request for all servers. With an ETag, the response is a 304. */
function asks(servers: BenchServer[], path: string, etag?: string): Target[] {
  const request = requestFor(path, etag === undefined ? {} : { 'if-none-match': etag })
  return servers.map((server) => targetAt(server, request, etag ? 304 : 200))
}

/**
 * Measures a page of 50 KB and its 304 against a static route with the same bytes, and against a
 * minimal handler that logs and looks nothing up.
 */
export async function bench(): Promise<BenchRow[]> {
  const ctx = await startBerthServer()
  const { id } = await publishOn(ctx, pageOf(50_000))
  const origin = `http://localhost:${ctx.port}`
  const path = `/a/${id}/data`
  const peer = (name: string): Promise<BenchServer> =>
    spawnServer([process.execPath, join(import.meta.dir, 'peers', name), origin, path])
  const servers = [ctx, await peer('static.ts'), await peer('logged.ts')]
  const etag = await etagOf(origin + path)
  const targets = [...asks(servers, path), ...asks(servers, path, etag)]
  const turns = await runLoad({ ...plan, targets })
  for (const server of servers.toReversed()) await server.stop()
  return [
    ...rowsOf('viewer: page of 50 KB', turns.slice(0, servers.length)),
    ...rowsOf('viewer: 304 of that page', turns.slice(servers.length)),
    ...(await measureOpens()),
  ]
}

function rowsOf(name: string, [ours = [], bare = [], logged = []]: Turn[][]): BenchRow[] {
  const row = (peer: string, value: number): BenchRow =>
    atLeast(`${name}, throughput vs. ${peer}`, value, limit)
  const costs = `${costUs(ours).toFixed(1)} us of CPU vs. ${costUs(bare).toFixed(1)} us`
  const bound = `itself ${throughput(logged, bare).toFixed(2)}x the static route`
  return [
    row(`a bare static route (${costs})`, throughput(ours, bare)),
    row(`a minimal handler that logs (${bound})`, throughput(ours, logged)),
  ]
}
