import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { openManyStreams } from '../../src/testing/processes/many-streams.ts'
import { chatAt, serveGateway } from './gateway/served.ts'
import { syncMs } from './gateway/syncs.ts'
import { costUs, median, ratio, runLoad, type Turn } from './load/load.ts'
import { atLeast, atMost, type BenchRow } from './row.ts'

/** Returns the additional time to the first byte in milliseconds, per round. */
const addedFirst = (turns: Turn[], others: Turn[]): number =>
  median(turns.map(({ firstP50 }, round) => firstP50 - (others[round]?.firstP50 ?? Number.NaN)))

export async function bench(): Promise<BenchRow[]> {
  return [...(await speed()), ...(await many())]
}

/** Measures streams of 200 chunks, one every 2 ms, against a bare pass-through. */
async function speed(): Promise<BenchRow[]> {
  const gateway = await serveGateway()
  const { ctx, pass, upstream } = gateway
  const { key } = await gateway.newAccount()
  const targets = [ctx, pass, upstream].map((one) => chatAt(one, key, true))
  // A thousand streams complete the just-in-time compilation.
  const warm = targets.slice(0, 1)
  await runLoad({ targets: warm, connections: 64, turnMs: 6_000, rounds: 1 })
  // A turn is one stream of each connection.
  const pair = targets.slice(0, 2)
  const busy = await runLoad({ targets: pair, connections: 16, turnMs: 1, rounds: 30 })
  const [ours = [], bare = []] = busy
  const single = await runLoad({ targets, connections: 1, turnMs: 1, rounds: 60 })
  const [first = [], bareFirst = [], direct = []] = single
  const limit = 2 * addedFirst(bareFirst, direct) + 1.5 * syncMs(ctx.dataDir)
  await gateway.stop()
  const numbers = `${costUs(ours).toFixed(0)} us of CPU vs. ${costUs(bare).toFixed(0)} us`
  const name = 'stream, added time to the first byte, limit 2x the pass-through plus 1.5 fdatasync'
  return [
    atMost(
      `stream of 200 chunks, vs. a bare pass-through (${numbers})`,
      1 / ratio(ours, bare),
      1.2,
    ),
    atMost(name, addedFirst(first, direct), limit, 'ms'),
  ]
}

/** Checks 2,000 streams that are open at the same time. */
async function many(): Promise<BenchRow[]> {
  const count = 2_000
  const dir = mkdtempSync(join(tmpdir(), 'berth-bench-'))
  const { sockets, done } = await openManyStreams(join(dir, 'data'), count)
  rmSync(dir, { recursive: true })
  return [
    atLeast('2,000 live streams: sockets', sockets, count, ''),
    atLeast('2,000 live streams: completed', done, count, ''),
  ]
}
