import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { seeded } from '../../../src/testing/fixtures/random.ts'
import { median, type Plan, requestFor, runLoad, targetAt } from '../load/load.ts'
import { pageOf } from '../load/page.ts'
import { asRecord, callsTo, noLimits, spawnServer } from '../load/served.ts'
import { atMost, type BenchRow } from '../row.ts'
import { encodePng } from './png.ts'

const many = 20
const game = { kind: 'game', prompt: 'a game where a fox collects coins and dodges rocks' }

/** A phone photo: a JPEG of 24 megapixels in about 5 MB. */
async function photo(): Promise<string> {
  const random = seeded(1)
  const [width, height] = [1_500, 1_000]
  const noise = encodePng(
    Uint8Array.from({ length: width * height * 3 }, () => 128 + random() * 64),
    width,
    3,
  )
  const bytes = await new Bun.Image(noise).resize(6_000, 4_000).jpeg({ quality: 80 }).bytes()
  return `data:image/jpeg;base64,${Buffer.from(bytes).toString('base64')}`
}

/**
 * Measures the latency of pages while 20 games are built with assets and 20 images of 24
 * megapixels become icons, and the longest stall of the event loop.
 */
export async function benchLoad(): Promise<BenchRow[]> {
  const dir = mkdtempSync(join(tmpdir(), 'berth-bench-'))
  const script = join(import.meta.dir, '../peers/watched.ts')
  const ctx = await spawnServer([process.execPath, script, dir], noLimits)
  const { port } = ctx
  const call = callsTo(port)
  const [first, ...people] = await Promise.all(
    Array.from({ length: many + 1 }, async () => {
      const key = String((await call('POST', '/keys', {})).key)
      const { app } = await call('POST', '/apps', { html: pageOf(50_000) }, key)
      return { key, id: String(asRecord(app).id) }
    }),
  )
  const path = `/a/${first?.id}/data`
  const peer = await spawnServer([
    process.execPath,
    join(import.meta.dir, '../peers/static.ts'),
    `http://127.0.0.1:${port}`,
    path,
  ])
  const targets = [ctx, peer].map((one) => targetAt(one, requestFor(path)))
  const plan: Plan = { connections: 8, turnMs: 50, rounds: 60, targets }
  /** Returns our p50 over that of a bare static route, measured alternately under the same load. */
  const p50 = async () => {
    const [ours = [], bare = []] = await runLoad(plan)
    return median(ours.map((turn, at) => turn.p50 / (bare[at]?.p50 ?? Number.NaN)))
  }
  const watch = `http://127.0.0.1:${ctx.readyLine.trim().split(' ')[1]}/`
  const stood = async () => asRecord(await (await fetch(watch)).json())
  const image = await photo()
  await call('PUT', `/apps/${first?.id}/icon`, { image }, first?.key)
  const { job } = await call('POST', '/apps', game, first?.key)
  await call('GET', `/jobs/${asRecord(job).id}?wait=30`, undefined, first?.key)
  await p50()
  const quiet = await p50()
  await stood()
  await Promise.all(people.map(({ key }) => call('POST', '/apps', game, key)))
  const icons = people.map(({ key, id }) => call('PUT', `/apps/${id}/icon`, { image }, key))
  const busy = await p50()
  await Promise.all(icons)
  const { ran, wall } = await stood()
  await peer.stop()
  await ctx.stop()
  rmSync(dir, { recursive: true, force: true })
  const [value, still] = [busy / quiet, Number(ran)]
  const of = 'while 20 games and 20 icons of 24 megapixels are built'
  const clock = `${Number(wall).toFixed(0)} ms wall time`
  return [
    atMost(
      `builds: p50 of a page ${of}, vs. an idle server, each relative to a bare route`,
      value,
      1.5,
    ),
    atMost(`builds: longest run of the main thread ${of} (${clock})`, still, 50, 'ms'),
  ]
}
