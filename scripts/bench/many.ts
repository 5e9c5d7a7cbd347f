import { Database } from 'bun:sqlite'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { quick, requestFor, runLoad, targetAt } from './load/load.ts'
import { pageOf } from './load/page.ts'
import { publishOn, startBerthServer } from './load/served.ts'
import { atMost, type BenchRow } from './row.ts'
import { few, many, seedMany } from './seed-many.ts'

const limit = 1.5

interface Seeded {
  ctx: Awaited<ReturnType<typeof startBerthServer>>
  id: string
  key: string
  handle: string
}

/** Starts a server with one agent and its app, adds many rows in bulk and restarts it. */
async function seeded(dir: string, size: typeof many): Promise<Seeded> {
  const first = await startBerthServer(dir)
  const { id, key } = await publishOn(first, pageOf(2_000))
  for (let version = 0; version < 3; version += 1) {
    await first.call('POST', `/apps/${id}/versions`, { html: pageOf(2_000, `${version}`) }, key)
  }
  const { handle } = await first.call('GET', '/me', undefined, key)
  await first.stop()
  const [, agent = ''] = /agent:(\w+)/.exec(accountOf(dir)) ?? []
  seedMany(join(dir, 'berth.sqlite'), agent, size)
  return { ctx: await startBerthServer(dir), id, key, handle: String(handle) }
}

function accountOf(dir: string): string {
  const database = new Database(join(dir, 'berth.sqlite'), { readonly: true })
  const row = database
    .query<{ id: string }, []>("select id from accounts where kind = 'agent'")
    .get()
  database.close()
  return row?.id ?? ''
}

/** Every read operation of the Agent API and of people, as a path and headers. */
function reads({ id, key, handle }: Seeded): [string, Record<string, string>][] {
  const own = { authorization: `Bearer ${key}` }
  const people = { accept: 'text/html' }
  const keyed = ['/me', '/me/keys', '/me/ledger', '/jobs', '/apps', `/apps/${id}`]
  const ofApp = ['versions', 'assets', 'html'].map((what) => `/apps/${id}/${what}`)
  return [
    ['/api', {}],
    ...[...keyed, ...ofApp].map((path): [string, typeof own] => [`/api${path}`, own]),
    [`/a/${id}`, people],
    [`/a/${id}/data`, {}],
    [`/a/${id}/files`, {}],
    ['/', people],
    [`/explore/@${handle}`, people],
    [`/report/${id}`, people],
  ]
}

/**
 * Measures the p50 of every read with 100,000 apps against a server with one full page per list.
 */
export async function bench(): Promise<BenchRow[]> {
  const dir = mkdtempSync(join(tmpdir(), 'berth-bench-'))
  const empty = await seeded(join(dir, 'few'), few)
  const full = await seeded(join(dir, 'many'), many)
  const asks = reads(full).map(([path]) => path)
  const targets = [full, empty].map((one) =>
    reads(one).map(([path, headers]) => targetAt(one.ctx, requestFor(path, headers))),
  )
  const inTurns = asks.flatMap((_, at) => targets.flatMap((all) => all.slice(at, at + 1)))
  const turns = await runLoad({ targets: inTurns, connections: 1, turnMs: 30, rounds: 61 })
  await empty.ctx.stop()
  await full.ctx.stop()
  rmSync(dir, { recursive: true })
  return asks.map((path, at) => {
    const [ours, peer] = turns
      .slice(at * 2, at * 2 + 2)
      .map((all) => quick(all.map(({ p50 }) => p50)))
    const shown = path.replace(full.id, '{id}').replace(full.handle, '{handle}')
    const name = `GET ${shown} with 100,000 apps and 1,000,000 entries (p50 ${ours?.toFixed(2)} ms)`
    return atMost(name, (ours ?? Number.NaN) / (peer ?? Number.NaN), limit)
  })
}
