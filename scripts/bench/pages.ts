import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { filled } from './explore.ts'
import { costUs, load, requestFor } from './load/load.ts'
import { spawnServer } from './load/served.ts'
import type { BenchRow } from './row.ts'

const cpuLimit = 6
/** For a page that is drawn for each request. */
const drawnLimit = 12
const bytesLimit = 60_000
const browser = { accept: 'text/html', 'accept-encoding': 'gzip, deflate, br' }
/** The last is kept for nobody. */
const pathsOf = (next: string): string[] => [
  '/',
  '/explore',
  '/explore?sort=top&kind=game',
  `/explore?cursor=${next}`,
]

/** What a page weighs on the wire with all that it loads but its pictures. */
async function weightOf(origin: string, path: string): Promise<number> {
  const bytesOf = async (asked: string): Promise<number> => {
    const answer = await fetch(origin + asked, { headers: browser, decompress: false })
    return (await answer.arrayBuffer()).byteLength
  }
  const page = await (await fetch(origin + path, { headers: { accept: 'text/html' } })).text()
  const loaded = [...page.matchAll(/"(\/static\/[^"]+)"/g)].map(([, name = '']) => name)
  const all = await Promise.all([path, ...loaded].map(bytesOf))
  return all.reduce((sum, bytes) => sum + bytes, 0)
}

/** Pages among 100,000 items beside a bare handler that renders 30 rows, in turns. */
export async function bench(): Promise<BenchRow[]> {
  const dir = mkdtempSync(join(tmpdir(), 'berth-bench-'))
  const house = await filled(dir, 1e5)
  const paths = pathsOf(house.next)
  const script = join(import.meta.dir, 'peers/list-page.ts')
  const peer = await spawnServer([process.execPath, script, join(dir, 'berth.sqlite')])
  const targets = [
    ...paths.map((path) => ({ ...house, request: requestFor(path, browser), status: 200 })),
    { ...peer, request: requestFor('/'), status: 200 },
  ].map(({ port, pid, request, status }) => ({ port, pid, request, status }))
  const turns = await load({ targets, connections: 8, turnMs: 120, rounds: 9 })
  const theirs = costUs(turns.at(-1) ?? [])
  const origin = `http://localhost:${house.port}`
  const weights = await Promise.all(paths.slice(0, 2).map((path) => weightOf(origin, path)))
  await peer.stop()
  await house.stop()
  rmSync(dir, { recursive: true })
  const costs = paths.map((path, at): BenchRow => {
    const ours = costUs(turns[at] ?? [])
    const name = `GET ${path.slice(0, 28)} with 100,000 items, CPU of a bare handler that renders 30 rows`
    const shown = `${name} (${ours.toFixed(0)} us beside ${theirs.toFixed(0)})`
    const value = ours / theirs
    const limit = path.includes('cursor') ? drawnLimit : cpuLimit
    return { name: shown, value, limit, unit: 'x', ok: value <= limit }
  })
  const wire = weights.map((value, at): BenchRow => {
    const name = `GET ${paths[at]} with its style and scripts, on the wire`
    return { name, value, limit: bytesLimit, unit: 'bytes', ok: value <= bytesLimit }
  })
  return [...costs, ...wire]
}
