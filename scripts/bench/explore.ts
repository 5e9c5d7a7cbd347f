import { Database } from 'bun:sqlite'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { costUs, median, quick, requestFor, runLoad, targetAt } from './load/load.ts'
import { pageOf } from './load/page.ts'
import { publishOn, spawnServer, startBerthServer } from './load/served.ts'
import { atMost, type BenchRow } from './row.ts'
import { upTo } from './seed-many.ts'

const bigLimit = 2
const cpuLimit = 4
const remixLimit = 2
const day = 86_400_000

/** Adds items of all kinds, shelves and words to Explore, beside the published one. */
function seed(file: string, items: number): void {
  const database = new Database(file)
  const first = Date.now() - 300 * day
  const step = Math.floor((299 * day) / items)
  database.run('pragma synchronous = off')
  database.run(`${upTo(items)}
    insert into apps (id, maker, kind, title, description, shelf, version, words, listed,
      listed_version, listed_at, remix, price_remix, remixers, heat, opens, stars, reviews, good,
      bytes, created, updated, rules)
    select printf('P%011d', i), maker, iif(i % 3, 'app', 'game'), 'Boat ' || i,
      'A small thing about lamps and boats, number ' || i, iif(i % 2, 'arcade', 'tools'), 1,
      'boat ' || i || ' a small thing about lamps and number word' || (i * 7919 % 50), 'on', 1,
      ${first} + i * ${step}, iif(i % 10, 'free', 'price'), iif(i % 10, null, 20),
      i * 31 % 97, i * 7919 % 100003, i % 50, 5 * (i % 7), i % 7 + i % 3, i % 7,
      2000, ${first}, ${first}, rules
    from n, (select maker, rules from apps limit 1)`)
  database.close()
}

/** Measured paths. `id` is an item and `handle` its maker. */
const asks = ({ id, handle, next }: Record<'id' | 'handle' | 'next', string>): string[] => [
  '',
  '?sort=top',
  '?sort=trending',
  '?sort=remixed',
  `?cursor=${next}`,
  '?kind=game',
  '?shelf=tools&kind=game',
  '?shelf=writing',
  '?price=paid&sort=top',
  '?kind=skill',
  `?maker=${handle}`,
  '?q=boat',
  '?q=word7+lam',
  '?q=boat&sort=top&shelf=tools',
  '?q=nothing',
  `/@${handle}`,
  `/${id}`,
]

export async function filled(dir: string, items: number) {
  const before = await startBerthServer(dir)
  const { id, key } = await publishOn(before, pageOf(2_000))
  await before.call('PATCH', `/apps/${id}`, { store: true }, key)
  const { handle } = await before.call('GET', '/me', undefined, key)
  await before.stop()
  seed(join(dir, 'berth.sqlite'), items)
  const ctx = await startBerthServer(dir)
  const { next } = await ctx.call('GET', '/explore')
  return { ...ctx, id, handle: String(handle), next: String(next) }
}

/** Measures lists and searches among 100,000 items against 1,000, and a list against a bare one. */
async function reads(): Promise<BenchRow[]> {
  const dir = mkdtempSync(join(tmpdir(), 'berth-bench-'))
  const [few, many] = [await filled(join(dir, 'few'), 1_000), await filled(join(dir, 'many'), 1e5)]
  const targets = asks(many).flatMap((_, at) =>
    [few, many].map((ctx) => targetAt(ctx, requestFor(`/api/explore${asks(ctx)[at]}`))),
  )
  const turns = await runLoad({ targets, connections: 1, turnMs: 30, rounds: 61 })
  const rows = asks(many).map((ask, at) => {
    const [less = 0, more = 0] = turns
      .slice(at * 2, at * 2 + 2)
      .map((all) => quick(all.map(({ p50 }) => p50)))
    const { id, handle, next } = many
    const shown = ask.replace(id, '{id}').replace(handle, '{handle}').replace(next, '{cursor}')
    const name = `GET /explore${shown} with 100,000 items, vs. 1,000 items (p50 ${more.toFixed(2)} ms)`
    return atMost(name, more / less, bigLimit)
  })
  const script = join(import.meta.dir, 'peers/list.ts')
  const peer = await spawnServer([process.execPath, script, join(dir, 'many/berth.sqlite')])
  const [ours = [], theirs = []] = await runLoad({
    targets: [targetAt(many, requestFor('/api/explore')), targetAt(peer, requestFor('/'))],
    connections: 8,
    turnMs: 150,
    rounds: 9,
  })
  for (const one of [peer, few, many]) await one.stop()
  rmSync(dir, { recursive: true })
  const costs = `${costUs(ours).toFixed(0)} us vs. ${costUs(theirs).toFixed(0)} us`
  const name = `CPU of a list of 30, vs. a bare handler that reads 30 rows (${costs})`
  return [...rows, atMost(name, costUs(ours) / costUs(theirs), cpuLimit)]
}

/** Measures remixes of an app with 64 MB of files against one without files. */
async function remixes(): Promise<BenchRow> {
  const ctx = await startBerthServer()
  const bare = await publishOn(ctx, pageOf(2_000))
  const full = await publishOn(ctx, pageOf(2_000, 'full'))
  for (let file = 0; file < 16; file += 1) {
    const data = JSON.stringify(`${file}`.padEnd(4 * 1_048_576 - 2, 'x'))
    const url = `http://127.0.0.1:${ctx.port}/api/apps/${full.id}/assets/f${file}.json`
    const headers = { authorization: `Bearer ${full.key}` }
    const { status } = await fetch(url, { method: 'PUT', headers, body: data })
    if (status !== 201) throw new Error(`uploading a file returned ${status}`)
  }
  const times: number[][] = [[], []]
  for (let turn = 0; turn < 41; turn += 1) {
    for (const [at, { id, key }] of [bare, full].entries()) {
      const started = performance.now()
      await ctx.call('POST', `/apps/${id}/remix`, {}, key)
      times[at]?.push(performance.now() - started)
    }
  }
  await ctx.stop()
  const [less = 0, more = 0] = times.map((all) => median(all.slice(1)))
  const name = `remix with 64 MB of files, vs. one without files (p50 ${more.toFixed(1)} ms)`
  return atMost(name, more / less, remixLimit)
}

export const bench = async (): Promise<BenchRow[]> => [...(await reads()), await remixes()]
