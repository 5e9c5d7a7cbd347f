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
  asRecord,
  type BenchServer,
  etagOf,
  publishFolder,
  publishOn,
  spawnServer,
  startBerthServer,
} from './load/served.ts'
import { atLeast, type BenchRow } from './row.ts'
import { measureOpens } from './viewer-opens.ts'

const limit = 0.8
const fileLimit = 0.9
const plan = { connections: 32, turnMs: 100, rounds: 25 } satisfies Partial<Plan>

/** Returns the same request for all servers. With an ETag, the response is a 304. */
function asks(servers: BenchServer[], path: string, etag?: string): Target[] {
  const request = requestFor(path, etag === undefined ? {} : { 'if-none-match': etag })
  return servers.map((server) => targetAt(server, request, etag ? 304 : 200))
}

/**
 * Measures a page of 50 KB and its 304 against a static route with the same bytes, and against a
 * minimal handler that logs and looks nothing up. The shell and a file of a folder are measured
 * against static routes too.
 */
export async function bench(): Promise<BenchRow[]> {
  const ctx = await startBerthServer(undefined, { BUILDER_BROWSER: 'off' })
  const { id, key } = await publishOn(ctx, pageOf(50_000))
  const origin = `http://localhost:${ctx.port}`
  const path = `/a/${id}/data`
  const folder = await publishFolder(ctx, key, {
    'index.html': '<script src=game.js></script>',
    'game.js': pageOf(50_000),
  })
  const list: unknown = await (await fetch(`${origin}${folder}/files`)).json()
  const file = String(asRecord(list)['frame']).replace('?wrapper', 'game.js')
  const peer = (name: string, ...paths: string[]): Promise<BenchServer> =>
    spawnServer([process.execPath, join(import.meta.dir, 'peers', name), origin, ...paths])
  const shell = `/a/${id}`
  const bare = await peer('static.ts', path, shell, file)
  const servers = [ctx, bare, await peer('logged.ts', path)]
  const etag = await etagOf(origin + path)
  const targets = [...asks(servers, path), ...asks(servers, path, etag)]
  const turns = await runLoad({ ...plan, targets })
  const both = [ctx, bare]
  const others = [
    ...asks(both, shell),
    ...asks(both, file),
    ...asks(both, file, await etagOf(origin + file)),
  ]
  const more = await runLoad({ ...plan, targets: others })
  for (const server of servers.toReversed()) await server.stop()
  return [
    ...rowsOf('viewer: page of 50 KB', turns.slice(0, servers.length)),
    ...rowsOf('viewer: 304 of that page', turns.slice(servers.length)),
    rowOf('viewer: shell', more.slice(0, 2)),
    rowOf('viewer: file of 50 KB', more.slice(2, 4)),
    rowOf('viewer: 304 of that file', more.slice(4)),
    ...(await measureOpens()),
  ]
}

/** Compares with a bare static route. */
function rowOf(name: string, [ours = [], bare = []]: Turn[][]): BenchRow {
  const costs = `${costUs(ours).toFixed(1)} us of CPU vs. ${costUs(bare).toFixed(1)} us`
  return atLeast(
    `${name}, throughput vs. a bare static route (${costs})`,
    throughput(ours, bare),
    fileLimit,
  )
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
