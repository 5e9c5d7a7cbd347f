import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { openManyStreams } from '../../src/testing/processes/many-streams.ts'
import { rssKib } from '../../src/testing/processes/server-process.ts'
import { chatAt, serveGateway } from './gateway/served.ts'
import { syncMs } from './gateway/syncs.ts'
import { costUs, median, ratio, runLoad, type Target, type Turn } from './load/load.ts'
import { atLeast, atMost, type BenchRow } from './row.ts'

/** Returns the additional time to the first byte in milliseconds, per round. */
const addedFirst = (turns: Turn[], others: Turn[]): number =>
  median(turns.map(({ firstP50 }, round) => firstP50 - (others[round]?.firstP50 ?? Number.NaN)))

export async function bench(): Promise<BenchRow[]> {
  return [...(await speed()), await memory(), ...(await many())]
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

const slowMs = 200
const slowStreams = 500
const perKey = 50

/** Measures the memory of each slow stream while many are open. */
async function memory(): Promise<BenchRow> {
  const gateway = await serveGateway(slowMs)
  const keys: string[] = []
  while (keys.length * perKey < slowStreams) keys.push((await gateway.newAccount()).key)
  const of = (one: Target) => kibEach(one.pid, keys, one)
  const { ctx, pass } = gateway
  const key = keys[0] ?? ''
  const ours = await of(chatAt(ctx, key, true))
  const bare = await of(chatAt(pass, key, true))
  await gateway.stop()
  const numbers = `${ours.toFixed(0)} KiB vs. ${bare.toFixed(0)} KiB`
  return atMost(
    `memory of a live slow stream, vs. a bare pass-through (${numbers})`,
    ours / bare,
    2.5,
  )
}

/** A first group of streams excludes what every process needs once. */
async function kibEach(pid: number, keys: string[], target: Target): Promise<number> {
  const open = (count: number) =>
    Promise.all(Array.from({ length: count }, (_, at) => openStream(target, keys, at)))
  const some = await open(perKey)
  await Bun.sleep(2_000)
  const before = rssKib(pid)
  const all = await open(slowStreams - perKey)
  await Bun.sleep(3_000)
  const each = (rssKib(pid) - before) / all.length
  for (const socket of [...some, ...all]) socket.end()
  return each
}

/** Resolves with the first bytes. */
async function openStream({ port, request }: Target, keys: string[], at: number) {
  const began = Promise.withResolvers<void>()
  const own = request.replace(/Bearer \S+/, `Bearer ${keys[at % keys.length]}`)
  const socket = await Bun.connect({
    hostname: '127.0.0.1',
    port,
    socket: {
      open: (opened) => void opened.write(own),
      data: (_, bytes) =>
        bytes.toString().startsWith('HTTP/1.1 4') ? began.reject(bytes) : began.resolve(),
    },
  })
  await began.promise
  return socket
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
