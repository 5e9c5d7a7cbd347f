import { Database } from 'bun:sqlite'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { filled } from './explore.ts'
import { costUs, requestFor, runLoad, targetAt } from './load/load.ts'
import { spawnServer } from './load/served.ts'
import { atMost, type BenchRow } from './row.ts'

const cpuLimit = 6
const bytesLimit = 60_000
const browser = { accept: 'text/html', 'accept-encoding': 'gzip, deflate, br' }
const drawnPages = 2_000
/** More pages than the page cache holds until the next commit. */
const fillingPages = 300
/** By then the server has run its first maintenance, which commits. */
const maintenanceMs = 5_000

/** Popular paths, which are cached. */
const common = [
  '/',
  '/explore',
  '/explore?sort=top&kind=game',
  '/explore?shelf=tools&sort=trending',
]

/** Rarely requested pages by their kind. */
function drawn(dir: string, handle: string): [name: string, paths: string[]][] {
  const database = new Database(join(dir, 'berth.sqlite'), { readonly: true })
  const rows = database
    .query<{ id: string; at: number }, []>(
      `select id, listed_at as at from apps where listed = 'on' order by random() limit ${drawnPages}`,
    )
    .all()
  database.close()
  const cursors = rows.map(({ id, at }) => Buffer.from(`new ${at} ${id}`).toString('base64url'))
  const lists = ['', 'shelf=tools&'].map((query): [string, string[]] => [
    `/explore?${query}cursor=`,
    cursors.map((cursor) => `/explore?${query}cursor=${cursor}`),
  ])
  // Each of these numbers begins the words of a hundred items.
  const numbers = Array.from({ length: 900 }, (_, at) => 100 + at)
  return [
    ...lists,
    ['/explore?q={word}', numbers.map((word) => `/explore?q=${word}`)],
    ['/explore?q={two+words}', numbers.map((word) => `/explore?q=boat+${word}`)],
    ['/explore/@{handle}', cursors.map((cursor) => `/explore/@${handle}?cursor=${cursor}`)],
    ['/explore/{id}', rows.map(({ id }) => `/explore/${id}`)],
  ]
}

/** Returns the transferred bytes of a page with its style and scripts. */
async function weightOf(origin: string, path: string): Promise<number> {
  const bytesOf = async (assetPath: string): Promise<number> => {
    const response = await fetch(origin + assetPath, { headers: browser, decompress: false })
    return (await response.arrayBuffer()).byteLength
  }
  const page = await (await fetch(origin + path, { headers: { accept: 'text/html' } })).text()
  const loaded = [...page.matchAll(/"(\/static\/[^"]+)"/g)].map(([, name = '']) => name)
  const all = await Promise.all([path, ...loaded].map(bytesOf))
  return all.reduce((sum, bytes) => sum + bytes, 0)
}

/** Measures pages among 100,000 items against a bare handler that renders 30 rows. */
export async function bench(): Promise<BenchRow[]> {
  const dir = mkdtempSync(join(tmpdir(), 'berth-bench-'))
  const ctx = await filled(dir, 1e5)
  const origin = `http://localhost:${ctx.port}`
  const pages = drawn(dir, ctx.handle)
  const paths = [...common.map((path): [string, string[]] => [path, [path]]), ...pages]
  // The cache is full of pages like the first, so every measured page is rendered.
  await Bun.sleep(maintenanceMs)
  for (const path of pages[0]?.[1].slice(0, fillingPages) ?? []) {
    await (await fetch(`${origin}${path}&price=free`)).text()
  }
  const script = join(import.meta.dir, 'peers/list-page.ts')
  const peer = await spawnServer([process.execPath, script, join(dir, 'berth.sqlite')])
  const targets = [
    ...paths.map(([, all]) => ({ ...ctx, all: all.map((path) => requestFor(path, browser)) })),
    { ...peer, all: [requestFor('/')] },
  ].map(({ all: [request = '', ...more], ...server }) => ({ ...targetAt(server, request), more }))
  const turns = await runLoad({ targets, connections: 8, turnMs: 120, rounds: 25 })
  const theirs = costUs(turns.at(-1) ?? [])
  const weights = await Promise.all(common.slice(0, 2).map((path) => weightOf(origin, path)))
  await peer.stop()
  await ctx.stop()
  rmSync(dir, { recursive: true })
  const costs = paths.map(([path], at) => {
    const ours = costUs(turns[at] ?? [])
    const name = `GET ${path} with 100,000 items, CPU vs. a bare handler that renders 30 rows`
    const shown = `${name} (${ours.toFixed(0)} us vs. ${theirs.toFixed(0)} us)`
    return atMost(shown, ours / theirs, cpuLimit)
  })
  const wire = weights.map((value, at) =>
    atMost(
      `GET ${common[at]} with its styles and scripts, transferred`,
      value,
      bytesLimit,
      'bytes',
    ),
  )
  return [...costs, ...wire]
}
