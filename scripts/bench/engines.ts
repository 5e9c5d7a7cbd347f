/**
 * The streams of both engines, the start, and a charged chat beside other gateways; charges.ts has
 * its cost beside the pass-through. Run on its own, it measures the engine of DATABASE_URL.
 */
import { join } from 'node:path'

import { createDatabase } from '../../src/testing/fixtures/databases.ts'
import { type Peer, peers, servePeer } from './gateway/peers.ts'
import { chatAt, type ServedGateway, serveGateway } from './gateway/served.ts'
import { streamMemory } from './gateway/stream-memory.ts'
import { costUs, median, ratio, runLoad, type Target, type Turn } from './load/load.ts'
import { atMost, type BenchRow } from './row.ts'
import { measureStarts } from './start.ts'

const isSqlite = !Bun.env.DATABASE_URL
const engine = isSqlite ? 'SQLite' : 'PostgreSQL'

export async function bench(): Promise<BenchRow[]> {
  const command = [process.execPath, import.meta.path]
  const postgres = join(import.meta.dir, '../../src/testing/postgres.ts')
  return [
    ...(await measureIn(command)),
    ...(await measureIn([process.execPath, postgres, ...command])),
  ]
}

async function measureIn(command: string[]): Promise<BenchRow[]> {
  const child = Bun.spawn(command, { stdout: 'pipe', stderr: 'inherit', stdin: 'ignore' })
  return JSON.parse((await child.stdout.text()).trim().split('\n').at(-1) ?? '')
}

/** Runs two targets in turns. Returns the CPU of the first over that of the second, as a row. */
async function compareCpu(
  name: string,
  [ours, other]: readonly [Target, Target],
  connections: number,
  limit: number,
): Promise<BenchRow> {
  for (const target of [ours, other]) {
    await runLoad({ targets: [target], connections: 32, turnMs: 4_000, rounds: 1 })
  }
  const plan = { targets: [ours, other], connections, turnMs: 600, rounds: 9 }
  const [first = [], second = []] = await runLoad(plan)
  const costs = `${costUs(first).toFixed(0)} us vs. ${costUs(second).toFixed(0)} us`
  return atMost(`${engine}: ${name} (${costs})`, 1 / ratio(first, second), limit)
}

async function comparePeer(peer: Peer, { ctx, upstream, newAccount }: ServedGateway) {
  const served = await servePeer(peer, upstream)
  if (!served) return []
  const ours = chatAt(ctx, (await newAccount()).key, false)
  const name = `charged chat, 32 callers, CPU vs. ${peer.name}, which has ${peer.mode}`
  const row = await compareCpu(name, [ours, served.chat], 32, 1)
  await served.stop()
  return [row]
}

const everyMs = 5
const events = 100

/** Measures one stream at a time against the upstream's own. */
async function measurePaced(): Promise<BenchRow[]> {
  const gateway = await serveGateway(everyMs, await newDatabase(), events)
  const { ctx, upstream } = gateway
  const { key } = await gateway.newAccount()
  const targets = [ctx, upstream].map((one) => chatAt(one, key, true))
  const warm = targets.slice(0, 1)
  await runLoad({ targets: warm, connections: 50, turnMs: 5_000, rounds: 1 })
  const [ours = [], direct = []] = await runLoad({ targets, connections: 1, turnMs: 1, rounds: 21 })
  await gateway.stop()
  const added = (of: (turn: Turn) => number): number =>
    median(ours.map((turn, round) => of(turn) - of(direct[round] ?? turn)))
  const name = `${engine}: stream of ${events} events, ${everyMs} ms apart`
  return [
    atMost(
      `${name}, later first byte than the upstream's`,
      added((turn) => turn.firstP50),
      1,
      'ms',
    ),
    atMost(
      `${name}, later end than the upstream's`,
      added((turn) => turn.p50),
      5,
      'ms',
    ),
  ]
}

/** Returns the settings of a server, which has a database of its own. */
const newDatabase = async (): Promise<Record<string, string>> =>
  isSqlite ? {} : { DATABASE_URL: await createDatabase() }

async function comparePeers(): Promise<BenchRow[]> {
  const gateway = await serveGateway()
  const rows: BenchRow[] = []
  for (const peer of peers) rows.push(...(await comparePeer(peer, gateway)))
  await gateway.stop()
  return rows
}

async function measureEngine(): Promise<BenchRow[]> {
  return [
    ...(isSqlite ? await comparePeers() : []),
    ...(await measurePaced()),
    await streamMemory(`${engine}: memory of each of 1,000 open streams`, await newDatabase()),
    ...(isSqlite ? await measureStarts() : []),
  ]
}

if (import.meta.main) console.log(JSON.stringify(await measureEngine()))
