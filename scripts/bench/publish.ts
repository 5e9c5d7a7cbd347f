import { closeSync, fdatasyncSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { inspectNow } from '../../src/apps/scan/inspection.ts'
import { bigPage } from '../../src/testing/fixtures/big-page.ts'
import { countSyncs } from './gateway/syncs.ts'
import { cpuNs, median, quick } from './load/load.ts'
import { pageOf } from './load/page.ts'
import {
  asRecord,
  type BenchServer,
  callsTo,
  publishOn,
  spawnServer,
  startBerthServer,
} from './load/served.ts'
import { atMost, type BenchRow } from './row.ts'

const smallBytes = 20_000
const syncs = 4

/** Returns the CPU time of a process while `work` runs, in milliseconds. */
async function cpuMs(pid: number, work: () => unknown): Promise<number> {
  const before = cpuNs(pid)
  await work()
  return (cpuNs(pid) - before) / 1e6
}

/**
 * Publishes pages one by one and compares each with its scan and compression alone, in server CPU.
 */
async function sideBySide(
  { pid }: BenchServer,
  publish: (html: string) => Promise<unknown>,
  pages: string[],
) {
  const turns: { whole: number; alone: number }[] = []
  for (const html of pages) {
    const bytes = new TextEncoder().encode(html)
    const alone = await cpuMs(process.pid, () => inspectNow(bytes))
    turns.push({ whole: await cpuMs(pid, () => publish(html)), alone })
  }
  // The first turn is the warm-up.
  return turns.slice(1)
}

/** Returns the time of a synced write as large as a small page, in milliseconds. */
function syncMs(dataDir: string, at: number): number {
  const file = openSync(join(dataDir, 'bench'), 'w')
  writeSync(file, pageOf(smallBytes, `${at}`))
  const began = performance.now()
  fdatasyncSync(file)
  closeSync(file)
  return performance.now() - began
}

async function small(): Promise<BenchRow[]> {
  const ctx = await startBerthServer()
  const { key } = await publishOn(ctx, pageOf(smallBytes))
  const publish = (html: string) => ctx.call('POST', '/apps', { html }, key)
  const turns: { whole: number; sync: number }[] = []
  for (let at = 0; at < 100; at += 1) {
    const html = pageOf(smallBytes, `small ${at}`)
    const began = performance.now()
    await publish(html)
    turns.push({ whole: performance.now() - began, sync: syncMs(ctx.dataDir, at) })
  }
  // The first turns are the warm-up.
  const warm = turns.slice(20)
  const over = quick(warm.map(({ whole }) => whole)) - syncs * quick(warm.map(({ sync }) => sync))
  const counted = await countSyncs(ctx.pid, async () => {
    for (let at = 0; at < 10; at += 1) await publish(pageOf(smallBytes, `counted ${at}`))
  })
  await ctx.stop()
  const synced = atMost('publish 20 KB', (counted ?? Number.NaN) / 10, syncs, 'fdatasync')
  return [
    { ...synced, ok: synced.ok && counted !== 0 },
    atMost('publish 20 KB, excluding 4 fdatasync', over, 8, 'ms'),
  ]
}

interface Gap {
  wall: number
  ran: number
}

async function big(): Promise<BenchRow[]> {
  const dir = mkdtempSync(join(tmpdir(), 'berth-bench-'))
  const script = join(import.meta.dir, 'peers/watched.ts')
  const ctx = await spawnServer([process.execPath, script, dir])
  const call = callsTo(ctx.port)
  const { key } = await call('POST', '/keys', {})
  const gaps: Gap[] = []
  const page = bigPage()
  const pages = Array.from({ length: 8 }, (_, at) => page.replace('A galaxy', `Galaxy ${at}`))
  const watch = `http://127.0.0.1:${ctx.readyLine.trim().split(' ')[1]}/`
  const readGap = async (): Promise<Gap> => {
    const { wall, ran } = asRecord(await (await fetch(watch)).json())
    return { wall: Number(wall), ran: Number(ran) }
  }
  const turns = await sideBySide(
    ctx,
    async (html) => {
      await readGap()
      await call('POST', '/apps', { html }, String(key))
      gaps.push(await readGap())
    },
    pages,
  )
  await ctx.stop()
  rmSync(dir, { recursive: true })
  const value = median(turns.map(({ whole, alone }) => whole / alone))
  const ran = median(gaps.map((gap) => gap.ran))
  const wall = median(gaps.map((gap) => gap.wall))
  const clock = `event loop stall: ${wall.toFixed(0)} ms wall time`
  return [
    atMost('publish 4 MB, vs. its scan and compression alone', value, 4),
    atMost(`publish 4 MB: longest run of the main thread (${clock})`, ran, 20, 'ms'),
  ]
}

/** Measures publishing over HTTP: a small page and the largest one. */
export async function bench(): Promise<BenchRow[]> {
  return [...(await small()), ...(await big())]
}
