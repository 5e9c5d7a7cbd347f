/**
 * `bun scripts/bench/binaries.ts OTHER`: compares the binary of this checkout with another one, in
 * turn on the same machine: the start, and a hosted page with its 304.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

import { median, requestFor, runLoad, targetAt, throughput } from './load/load.ts'
import { pageOf } from './load/page.ts'
import { etagOf, publishOn, startBerthServer } from './load/served.ts'
import { type Start, start } from './start.ts'

const startRounds = 11
const plan = { connections: 32, turnMs: 100, rounds: 40 }

async function printStarts(binaries: string[]): Promise<void> {
  const folders = binaries.map(() => mkdtempSync(join(tmpdir(), 'berth-bench-')))
  const rounds: Start[][] = []
  for (let round = -1; round < startRounds; round += 1) {
    const starts: Start[] = []
    for (const [at, binary] of binaries.entries()) {
      const env = { PORT: '0', DATA_DIR: folders[at] ?? '' }
      starts.push(await start([binary, 'serve', '--json'], env, true))
    }
    // The first round creates the data folders and warms the disk cache.
    if (round >= 0) rounds.push(starts)
  }
  for (const [at, binary] of binaries.entries()) {
    const shown = (key: keyof Start): string =>
      median(rounds.map((starts) => starts[at]?.[key] ?? Number.NaN)).toFixed(0)
    const size = (Bun.file(binary).size / 1e6).toFixed(1)
    console.log(`${binary}: ${size} MB, start ${shown('ms')} ms, idle ${shown('rssMb')} MB`)
  }
  for (const folder of folders) rmSync(folder, { recursive: true })
}

async function printPages(binaries: string[]): Promise<void> {
  const opened = await Promise.all(
    binaries.map(async (binary) => {
      const server = await startBerthServer(undefined, {}, [binary])
      const path = `/a/${(await publishOn(server, pageOf(50_000))).id}/data`
      const etag = await etagOf(`http://localhost:${server.port}${path}`)
      const page = targetAt(server, requestFor(path), 200)
      const again = targetAt(server, requestFor(path, { 'if-none-match': etag }), 304)
      return { server, page, again }
    }),
  )
  const targets = [...opened.map(({ page }) => page), ...opened.map(({ again }) => again)]
  const [page = [], otherPage = [], again = [], otherAgain = []] = await runLoad({
    ...plan,
    targets,
  })
  const shown = (ratio: number): string => `${ratio.toFixed(2)}x of the other`
  console.log(`page of 50 KB: throughput ${shown(throughput(page, otherPage))}`)
  console.log(`304 of that page: throughput ${shown(throughput(again, otherAgain))}`)
  for (const { server } of opened) await server.stop()
}

if (import.meta.main) {
  const [other] = Bun.argv.slice(2)
  if (other === undefined)
    throw new Error('Name another binary: bun scripts/bench/binaries.ts OTHER')
  const binaries = [join(import.meta.dir, '../../dist/berth'), resolve(other)]
  await printStarts(binaries)
  await printPages(binaries)
}
