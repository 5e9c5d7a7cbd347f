import { join } from 'node:path'

import { costUs, load, type Plan, ratio, requestFor, type Target } from './load/load.ts'
import { pageOf } from './load/page.ts'
import { publishOn, type Served, serveHouse, spawnServer } from './load/served.ts'
import type { BenchRow } from './row.ts'

const limit = 0.8
const plan = { connections: 32, turnMs: 150, rounds: 15 } satisfies Partial<Plan>

/** The same request of both servers: with an ETag, for a 304. */
function asks(servers: Served[], path: string, etag?: string): Target[] {
  const headers = { 'accept-encoding': 'br', ...(etag && { 'if-none-match': etag }) }
  const request = requestFor(path, headers)
  return servers.map(({ port, pid }) => ({ port, pid, request, status: etag ? 304 : 200 }))
}

async function etagOf(origin: string, path: string): Promise<string> {
  const answer = await fetch(origin + path, { headers: { 'accept-encoding': 'br' } })
  await answer.arrayBuffer()
  return answer.headers.get('etag') ?? ''
}

/** A page of 50 KB as brotli, its shell, and their 304s, beside static routes of the same bytes. */
export async function bench(): Promise<BenchRow[]> {
  const house = await serveHouse()
  const { id } = await publishOn(house, pageOf(50_000))
  const origin = `http://localhost:${house.port}`
  const paths = [`/a/${id}`, `/a/${id}/data`]
  const script = join(import.meta.dir, 'peers/static.ts')
  const peer = await spawnServer([process.execPath, script, origin, ...paths])
  const targets: Target[] = []
  const names: string[] = []
  for (const [at, path] of paths.entries()) {
    const what = at === 0 ? 'shell' : 'page of 50 KB (br)'
    names.push(`viewer: ${what}`, `viewer: ${what}, 304`)
    targets.push(...asks([house, peer], path))
    targets.push(...asks([house, peer], path, await etagOf(origin, path)))
  }
  const turns = await load({ ...plan, targets })
  await peer.stop()
  await house.stop()
  return names.map((name, at) => {
    const [ours = [], theirs = []] = turns.slice(at * 2, at * 2 + 2)
    const value = ratio(ours, theirs)
    const costs = `${costUs(ours).toFixed(1)} us of CPU beside ${costUs(theirs).toFixed(1)}`
    return {
      name: `${name}, of a static route (${costs})`,
      value,
      limit,
      unit: 'x',
      ok: value >= limit,
    }
  })
}
