/**
 * `bun src/testing/postgres.ts bun scripts/bench/replicas/measure.ts`: prints the cost of a charged
 * call on PostgreSQL as JSON, for several servers from source. Times are microseconds of CPU.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

import { SQL } from 'bun'

import { startPausableProxy } from '../../../src/testing/fixtures/pausable-proxy.ts'
import { type Replicas, startReplicas } from '../../../src/testing/replicas/replicas.ts'
import { buildPublic, isPublicFresh } from '../../build-public.ts'

const calls = 1_500
const connections = 16
const counted = 60
const ticksPerSecond = 100
const source = join(import.meta.dir, '../../..')

export interface Measured {
  servers: number
  accounts: number
  serverUs: number
  postgresUs: number
}

export interface Statements {
  /** Statements of one call, and those of them that are BEGIN and COMMIT. */
  all: number
  transactions: number
  /** Round trips of one call to PostgreSQL. */
  roundTrips: number
}

const statOf = (pid: string): string[] => {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /, '')
      .split(' ')
  } catch {
    return []
  }
}
const cpuUs = (stat: string[]): number =>
  ((Number(stat[11] ?? 0) + Number(stat[12] ?? 0)) / ticksPerSecond) * 1e6

/** Returns the CPU of PostgreSQL's processes. The postmaster is the parent of this session. */
async function postgresCpu(sql: SQL): Promise<number> {
  const [row] = await sql`select pg_backend_pid() as pid`
  const parent = statOf(String(row.pid))[1]
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(statOf)
    .filter((stat) => stat[1] === parent)
    .reduce((sum, stat) => sum + cpuUs(stat), 0)
}

async function call({ servers }: Replicas, key: string, at: number): Promise<void> {
  const response = await servers[at % servers.length]?.call('POST', '/v1/chat/completions', key, {
    model: 'fake/ok',
    max_tokens: 50,
    messages: [{ role: 'user', content: `Call ${at}.` }],
  })
  if (response?.status !== 200) throw new Error(`A call is ${response?.status}.`)
  await response.text()
}

async function run(r: Replicas, keys: string[], total: number): Promise<void> {
  let next = 0
  const work = async (): Promise<void> => {
    for (let at = next++; at < total; at = next++) await call(r, keys[at % keys.length] ?? '', at)
  }
  await Promise.all(Array.from({ length: connections }, work))
}

async function measure(r: Replicas, keys: string[]): Promise<Measured> {
  await run(r, keys, 500)
  const servers = () => r.servers.reduce((sum, { pid }) => sum + cpuUs(statOf(String(pid))), 0)
  const before = [servers(), await postgresCpu(r.sql)] as const
  await run(r, keys, calls)
  const after = [servers(), await postgresCpu(r.sql)] as const
  return {
    servers: r.servers.length,
    accounts: keys.length,
    serverUs: (after[0] - before[0]) / calls,
    postgresUs: (after[1] - before[1]) / calls,
  }
}

/** Counts what calls, one after the other, ask PostgreSQL for. */
async function countStatements(): Promise<Statements> {
  const proxies: ReturnType<typeof startPausableProxy>[] = []
  const countSends = () => proxies.reduce((sum, proxy) => sum + proxy.countSends(), 0)
  const r = await startReplicas(1, {
    source,
    through: async (url) => {
      const proxy = startPausableProxy(new URL(url))
      proxies.push(proxy)
      const near = new URL(url)
      near.host = proxy.host
      return { DATABASE_URL: near.href }
    },
  })
  try {
    const key = await r.newGatewayKey()
    await run(r, [key], 500)
    await r.sql.unsafe('create extension if not exists pg_stat_statements')
    await r.sql.unsafe('select pg_stat_statements_reset()')
    const before = countSends()
    for (let at = 0; at < counted; at += 1) await call(r, key, at)
    const roundTrips = (countSends() - before) / counted
    const rows: { query: string; calls: string }[] = await r.sql`
      select query, calls from pg_stat_statements where calls >= ${counted} / 2`
    const sum = (some: typeof rows) =>
      some.reduce((all, one) => all + Number(one.calls), 0) / counted
    const isTransaction = ({ query }: { query: string }) => /^(begin|commit)/i.test(query)
    return { all: sum(rows), transactions: sum(rows.filter(isTransaction)), roundTrips }
  } finally {
    await r.close()
    for (const proxy of proxies) proxy.close()
  }
}

if (!(await isPublicFresh())) await buildPublic()
const measured: Measured[] = []
const statements = await countStatements()
for (const count of [1, 2, 4]) {
  const r = await startReplicas(count, { source })
  try {
    const hot = await r.newGatewayKey()
    measured.push(await measure(r, [hot]))
    if (count !== 2) continue
    const spread = [hot]
    while (spread.length < 8) spread.push(await r.newGatewayKey())
    measured.push(await measure(r, spread))
  } finally {
    await r.close()
  }
}
console.log(JSON.stringify({ measured, statements }))
process.exit(0)
