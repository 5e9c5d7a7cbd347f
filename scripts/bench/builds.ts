import { checkPage } from '../../src/apps/builds/page-checks.ts'
import type { GenerateRequest } from '../../src/apps/generators/generate.ts'
import { Generators } from '../../src/apps/generators/generators.ts'
import { stopwatch } from '../../src/kernel/time.ts'
import {
  startTestServer,
  type TestAgent,
  type TestServer,
} from '../../src/testing/fixtures/test-server.ts'
import { benchBrowser } from './builds/browser.ts'
import { benchLoad } from './builds/load.ts'
import { median } from './load/load.ts'
import { pageOf } from './load/page.ts'
import { atMost, type BenchRow } from './row.ts'

const game = { kind: 'game', prompt: 'a game where a fox collects coins and dodges rocks' }
const list = { prompt: 'a packing list with tent, boots and a map' }
const agents = 41
const open = (more: object = {}) => startTestServer({ BUILDS_PER_HOUR: '0', ...more })

async function msOf(work: () => Promise<unknown>): Promise<number> {
  const begun = stopwatch()
  await work()
  return stopwatch() - begun
}

async function people(ctx: TestServer): Promise<TestAgent[]> {
  const names = Array.from({ length: agents }, (_, at) => `worker-${at}`)
  return Promise.all(names.map((name) => ctx.agent(name)))
}

/** Each agent publishes 2 KB and starts a build. No runner processes the builds. */
async function beginning(): Promise<BenchRow> {
  const ctx = await open()
  const [builds, pages]: number[][] = [[], []]
  for (const [at, one] of (await people(ctx)).entries()) {
    const html = pageOf(2_000, `page ${at}`)
    pages?.push(await msOf(() => one.call('POST', '/apps', { html })))
    builds?.push(await msOf(() => one.call('POST', '/apps', game)))
  }
  await ctx.close()
  const [build, page] = [median(builds ?? []), median(pages ?? [])]
  const name = `builds: time to start a build (${build.toFixed(1)} ms), vs. publishing 2 KB`
  return atMost(name, build / page, 4)
}

/** Measures a demo build without assets, minus its browser, scan and checks. */
async function overhead(): Promise<BenchRow> {
  const ctx = await open({ BUILDER_BROWSER: 'auto' })
  const { previewBrowser, jobs } = ctx.ctx
  const look = previewBrowser.preview.bind(previewBrowser)
  let checks = 0
  previewBrowser.preview = async (...args) => {
    const begun = stopwatch()
    return look(...args).finally(() => (checks += stopwatch() - begun))
  }
  const shares: number[] = []
  for (const one of (await people(ctx)).slice(0, 4)) {
    checks = 0
    const begun = await one.call('POST', '/apps', list)
    const whole = await msOf(() => jobs.runDue())
    const page = await one.call('GET', `/apps/${begun.text('app.id')}/html`)
    const html = new TextDecoder().decode(page.bytes)
    // Checked when the page arrives and again before it is published.
    checks += 2 * (await msOf(() => checkPage(ctx.ctx, html)))
    shares.push(Math.max(0, whole - checks) / whole)
  }
  await ctx.close()
  const name = 'builds: share of a demo build outside its scan, checks and browser'
  return atMost(name, median(shares.slice(1)), 0.5, '')
}

const wishes: [wish: Omit<GenerateRequest, 'seed'>, limit: number][] = [
  [{ kind: 'sprite', what: 'a red spaceship' }, 1],
  [{ kind: 'picture', what: 'a forest at night' }, 2],
  [{ kind: 'sound', what: 'coin' }, 1],
  [{ kind: 'voice', what: 'Welcome aboard, captain. The tide is turning.' }, 4],
  [{ kind: 'music', what: 'calm sea', seconds: 30 }, 8],
]

/** Returns the time of one embedded asset of each kind, in seconds. */
async function assets(): Promise<BenchRow[]> {
  const makers = new Generators()
  const rows: BenchRow[] = []
  for (const [wish, limit] of wishes) {
    const times: number[] = []
    for (const seed of ['warm', 'a', 'b', 'c']) {
      times.push(await msOf(() => makers.generate({ ...wish, seed })))
    }
    const length = wish.seconds === undefined ? '' : ` of ${wish.seconds} s`
    const name = `assets: an embedded ${wish.kind}${length}`
    rows.push(atMost(name, median(times.slice(1)) / 1_000, limit, 's'))
  }
  makers.close()
  return rows
}

/** Measures builds against publishing, against their checks, and their effect on visitors. */
export const bench = async (): Promise<BenchRow[]> => [
  await beginning(),
  await overhead(),
  ...(await benchBrowser()),
  ...(await benchLoad()),
  ...(await assets()),
]
