import { Database } from 'bun:sqlite'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { quick, requestFor, runLoad, targetAt } from './load/load.ts'
import { publishOn, startBerthServer } from './load/served.ts'
import { atMost, type BenchRow } from './row.ts'
import { upTo } from './seed-many.ts'

const limit = 1.5
const day = 86_400_000

interface Size {
  packs: number
  runs: number
}

const few: Size = { packs: 1_000, runs: 10_000 }
const many: Size = { packs: 100_000, runs: 1_000_000 }

/** Adds packs to Explore, and their runs. They share the content of the published one. */
function seed(file: string, { packs, runs }: Size): void {
  const database = new Database(file)
  const first = Date.now() - 300 * day
  const step = Math.floor((299 * day) / packs)
  database.run('pragma synchronous = off')
  database.run(`${upTo(packs)} insert into apps (id, maker, kind, name, title, description, shelf,
      version, words, listed, listed_version, listed_at, remix, success_low, bytes, created,
      updated, rules)
    select printf('P%011d', i), maker, iif(i % 5, 'skill', 'framework'), 'pack-' || i,
      'pack-' || i, 'Writes release notes, number ' || i, iif(i % 2, 'writing', 'tools'), 1,
      'pack writes release notes word' || (i * 7919 % 50), 'on', 1, ${first} + i * ${step}, 'free',
      i * 7919 % 999983, bytes, ${first}, ${first}, rules
    from n, (select * from apps where kind = 'skill' limit 1)`)
  database.run(`insert into versions (app, version, maker, sha256, pack, html_bytes, gzip_bytes,
      br_bytes, asks, folder, via, note, created)
    select a.id, 1, a.maker, v.sha256, v.pack, v.html_bytes, v.gzip_bytes, v.br_bytes, v.asks,
      v.folder, 'files', '', a.created
    from apps a, (select * from versions where folder is not null limit 1) v
    where a.id not in (select app from versions)`)
  database.run(`${upTo(runs)} insert into runs (id, pack, version, maker, agent, owner, state,
      counted, weight, day, steps, outcome, summary, evidence, created, closed)
    select printf('R%011d', i), printf('P%011d', 1 + i % ${packs}), 1, 'maker',
      printf('A%011d', i % 5000), printf('O%011d', i % 3000), 'reported', 1, 10, '2026-01-01', '[]',
      iif(i % 4, 'worked', 'failed'), 'It went well.', '[]', ${first} + i, ${first} + i
    from n`)
  database.run('pragma wal_checkpoint(truncate)')
  database.close()
}

const skill = '---\nname: release-notes\ndescription: Writes release notes.\n---\n# Release notes\n'

async function filled(dir: string, size: Size) {
  const before = await startBerthServer(dir)
  const { key } = await publishOn(before, '<!doctype html><title>a</title>')
  await before.call('POST', '/skills', { skill, store: true }, key)
  await before.stop()
  seed(join(dir, 'berth.sqlite'), size)
  const ctx = await startBerthServer(dir)
  const { next } = await ctx.call('GET', '/explore?kind=skill&sort=record')
  return { ...ctx, next: String(next) }
}

/** Paths of lists. A page after a cursor is never cached. */
const lists = (next: string): string[] => [
  '?kind=skill&sort=record',
  `?kind=skill&sort=record&cursor=${next}`,
  '?kind=framework&sort=record',
  '?sort=record',
  '?kind=skill&q=word7',
]

/** Measures lists of packs among 100,000 packs with 1,000,000 runs against 1,000 packs. */
export async function bench(): Promise<BenchRow[]> {
  const dir = mkdtempSync(join(tmpdir(), 'berth-bench-'))
  const [less, more] = [await filled(join(dir, 'few'), few), await filled(join(dir, 'many'), many)]
  const asks = lists(more.next)
  const targets = asks.flatMap((_, at) =>
    [less, more].map((ctx) => targetAt(ctx, requestFor(`/api/explore${lists(ctx.next)[at]}`))),
  )
  const turns = await runLoad({ targets, connections: 1, turnMs: 30, rounds: 61 })
  await less.stop()
  await more.stop()
  rmSync(dir, { recursive: true })
  return asks.map((ask, at) => {
    const [one = 0, other = 0] = turns
      .slice(at * 2, at * 2 + 2)
      .map((all) => quick(all.map(({ p50 }) => p50)))
    const shown = ask.replace(more.next, '{cursor}')
    const name = `GET /explore${shown} with 100,000 packs and 1,000,000 runs, vs. 1,000 packs (p50 ${other.toFixed(2)} ms)`
    return atMost(name, other / one, limit)
  })
}
