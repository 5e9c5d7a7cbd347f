import { Database } from 'bun:sqlite'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { quick, requestFor, runLoad, targetAt } from './load/load.ts'
import { asRecord, startBerthServer } from './load/served.ts'
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

/** Adds packs on Explore, copies of the published one, and runs with their records. */
function seed(file: string, pack: string, { packs, runs }: Size): void {
  const database = new Database(file)
  const first = Date.now() - 300 * day
  const idOf = (i: string): string => `printf('S%011d', ${i})`
  database.run('pragma synchronous = off')
  database.run(`${upTo(packs)} insert into apps (id, maker, kind, name, title, description, shelf,
      version, words, listed, listed_version, listed_at, remix, success_low, bytes, created, updated,
      rules)
    select ${idOf('i')}, maker, 'skill', 'skill-' || i, 'Skill ' || i, 'Number ' || i, 'other', 1,
      'skill ' || i, 'on', 1, ${first} + i, 'free', i * 7919 % 1000003, 2000, ${first}, ${first}, rules
    from n, (select maker, rules from apps where id = '${pack}')`)
  // Every tenth run is of the published pack.
  const packOf = `iif(i % 10 = 0, '${pack}', ${idOf(`i % ${packs} + 1`)})`
  database.run(`${upTo(runs)} insert into runs (id, pack, version, maker, agent, owner, state, counted,
      weight, day, steps, outcome, summary, minutes, evidence, created, closed)
    select printf('R%011d', i), ${packOf}, 1, 'm', 'a' || i % 5000, 'o' || i % 2000, 'reported', 1, 10,
      '2026-05-04', '[]', iif(i % 4, 'worked', 'failed'), 'It is done.', i % 60, '[]', ${first} + i,
      ${first} + i + 60000 from n`)
  database.run(`insert into pack_records (pack, version, runs, worked, failed, agents, owners)
    select pack, version, count(*), 10 * sum(outcome = 'worked'), 10 * sum(outcome = 'failed'),
      count(distinct agent), count(distinct owner) from runs group by pack, version`)
  database.run(`insert into pack_records (pack, version, runs, worked, failed, agents, owners)
    select pack, 0, runs, worked, failed, agents, owners from pack_records`)
  database.run(
    `insert into pack_minutes select pack, minutes, count(*) from runs group by pack, minutes`,
  )
  database.run('analyze')
  database.close()
}

async function filled(dataDir: string, size: Size) {
  const before = await startBerthServer(dataDir)
  const key = String((await before.call('POST', '/keys', {}))['key'])
  const skill = '---\nname: notes\ndescription: Writes release notes.\n---\n# Notes\n'
  const made = await before.call('POST', '/skills', { skill, store: true }, key)
  const id = String(asRecord(made['skill'])['id'])
  await before.stop()
  seed(join(dataDir, 'berth.sqlite'), id, size)
  return { ...(await startBerthServer(dataDir)), id }
}

/** Measures lists by record and one record among 100,000 packs and 1,000,000 runs, against few. */
export async function bench(): Promise<BenchRow[]> {
  const dir = mkdtempSync(join(tmpdir(), 'berth-bench-'))
  const servers = [await filled(join(dir, 'few'), few), await filled(join(dir, 'many'), many)]
  const asks = [
    '/explore?kind=skill&sort=record',
    '/explore?kind=skill&sort=record&limit=100',
    '/packs/{id}/record',
    '/packs/{id}/runs',
  ]
  const targets = asks.flatMap((ask) =>
    servers.map((ctx) => targetAt(ctx, requestFor(`/api${ask.replace('{id}', ctx.id)}`))),
  )
  const turns = await runLoad({ targets, connections: 1, turnMs: 30, rounds: 61 })
  for (const one of servers) await one.stop()
  rmSync(dir, { recursive: true })
  return asks.map((ask, at) => {
    const [less = 0, more = 0] = turns
      .slice(at * 2, at * 2 + 2)
      .map((all) => quick(all.map(({ p50 }) => p50)))
    const name = `GET ${ask} with 100,000 packs and 1,000,000 runs, vs. 1,000 packs (p50 ${more.toFixed(2)} ms)`
    return atMost(name, more / less, limit)
  })
}
