import { join } from 'node:path'

import {
  costUs,
  type Plan,
  requestFor,
  runLoad,
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

const limit = 0.9
const plan = { connections: 32, turnMs: 100, rounds: 25 } satisfies Partial<Plan>

/** A kind of request, with the status of its response. */
interface MeasuredRequest {
  name: string
  request: string
  status: number
}

/** Returns the requests for a resource: for all of it, and with its ETag for a 304. */
async function requestsFor(name: string, origin: string, path: string): Promise<MeasuredRequest[]> {
  const headers = { 'if-none-match': await etagOf(origin + path) }
  return [
    { name, request: requestFor(path), status: 200 },
    { name: `304 of ${name}`, request: requestFor(path, headers), status: 304 },
  ]
}

/**
 * Measures the shell, a page and a file of a folder, each of 50 KB, with their 304 and a range of
 * the file. Their peers are static routes with the same bytes, which have no ranges, and a minimal
 * handler that logs and looks nothing up.
 */
export async function bench(): Promise<BenchRow[]> {
  const ctx = await startBerthServer(undefined, { BUILDER_BROWSER: 'off' })
  const { id, key } = await publishOn(ctx, pageOf(50_000))
  const origin = `http://localhost:${ctx.port}`
  const [shell, page] = [`/a/${id}`, `/a/${id}/data`]
  const folder = await publishFolder(ctx, key, {
    'index.html': '<script src=game.js></script>',
    'game.js': pageOf(50_000),
  })
  const list: unknown = await (await fetch(`${origin}${folder}/files`)).json()
  const file = String(asRecord(list)['frame']).replace('?wrapper', 'game.js')
  const peer = (name: string): Promise<BenchServer> =>
    spawnServer([process.execPath, join(import.meta.dir, 'peers', name), origin, shell, page, file])
  const [bare, logged] = [await peer('static.ts'), await peer('logged.ts')]
  const whole = [
    ...(await requestsFor('the shell', origin, shell)),
    ...(await requestsFor('a page', origin, page)),
    ...(await requestsFor('a file', origin, file)),
  ]
  const part = requestFor(file, { range: 'bytes=1000-20000' })
  const range = { name: 'a range of a file', request: part, status: 206 }
  const rows: BenchRow[] = []
  for (const measured of whole) rows.push(...(await compare(measured, { ctx, bare, logged })))
  rows.push(...(await compare(range, { ctx, logged })))
  for (const server of [logged, bare, ctx]) await server.stop()
  return [...rows, ...(await measureOpens())]
}

/** Compares with static routes and with a handler that logs. */
async function compare(
  { name, request, status }: MeasuredRequest,
  { ctx, bare, logged }: { ctx: BenchServer; bare?: BenchServer; logged: BenchServer },
): Promise<BenchRow[]> {
  const servers = [ctx, logged, ...(bare ? [bare] : [])]
  const targets = servers.map((server) => targetAt(server, request, status))
  const [ours = [], ofLogged = [], ofBare] = await runLoad({ ...plan, targets })
  const row = (peer: string, turns: Turn[], more = ''): BenchRow => {
    const costs = `${costUs(ours).toFixed(1)} us of CPU vs. ${costUs(turns).toFixed(1)} us${more}`
    const shown = `viewer: ${name}, throughput vs. ${peer} (${costs})`
    return atLeast(shown, throughput(ours, turns), limit)
  }
  const bound = ofBare && `, itself ${throughput(ofLogged, ofBare).toFixed(2)}x the static route`
  return [
    ...(ofBare ? [row('a bare static route', ofBare)] : []),
    row('a minimal handler that logs', ofLogged, bound),
  ]
}
