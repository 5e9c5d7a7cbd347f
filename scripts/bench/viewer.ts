import { join } from 'node:path'

import { costUs, load, type Plan, requestFor, type Target, throughput } from './load/load.ts'
import { pageOf } from './load/page.ts'
import { publishOn, type Served, serveHouse, spawnServer } from './load/served.ts'
import type { BenchRow } from './row.ts'

const limit = 0.8
const plan = { connections: 32, turnMs: 100, rounds: 25 } satisfies Partial<Plan>

/** The same request of both servers: with an ETag, for a 304. */
function asks(servers: Served[], path: string, etag?: string): Target[] {
  const request = requestFor(path, etag === undefined ? {} : { 'if-none-match': etag })
  return servers.map(({ port, pid }) => ({ port, pid, request, status: etag ? 304 : 200 }))
}

/** A page of 50 KB and its 304, beside a static route of the same bytes and headers. */
export async function bench(): Promise<BenchRow[]> {
  const house = await serveHouse()
  const { id } = await publishOn(house, pageOf(50_000))
  const origin = `http://localhost:${house.port}`
  const path = `/a/${id}/data`
  const script = join(import.meta.dir, 'peers/static.ts')
  const peer = await spawnServer([process.execPath, script, origin, path])
  const head = await fetch(origin + path, {
    method: 'HEAD',
    headers: { 'accept-encoding': 'identity' },
  })
  const etag = head.headers.get('etag') ?? ''
  const both = [house, peer]
  const turns = await load({ ...plan, targets: [...asks(both, path), ...asks(both, path, etag)] })
  await peer.stop()
  await house.stop()
  return ['viewer: page of 50 KB', 'viewer: its 304'].map((name, at) => {
    const [ours = [], theirs = []] = turns.slice(at * 2, at * 2 + 2)
    const value = throughput(ours, theirs)
    const costs = `${costUs(ours).toFixed(1)} us of CPU beside ${costUs(theirs).toFixed(1)}`
    const shown = `${name}, answers a second of a bare static route's (${costs})`
    return { name: shown, value, limit, unit: 'x', ok: value >= limit }
  })
}
