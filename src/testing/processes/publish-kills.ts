import { readdirSync } from 'node:fs'
import { join } from 'node:path'

import { seeded } from '../fixtures/random.ts'
import {
  expect,
  runBerth,
  type ServerProcess,
  startServerProcess,
  textAt,
} from './server-process.ts'

/** Acknowledged writes of one app: html by version, and files by name. */
interface AcknowledgedApp {
  key: string
  /** Acknowledged html by version, and the newest acknowledged version. */
  pages: Map<number, string>
  newest: number
  files: Map<string, string>
}

/** All content that was sent. Content without acknowledgment may exist, but only complete. */
interface World {
  keys: string[]
  apps: Map<string, AcknowledgedApp>
  sentPages: Set<string>
  sentFiles: Set<string>
  acknowledged: number
}

const agents = 4
const roundMsMax = 4_000
const pageBytes = { least: 2_000, most: 1_000_000 }

/**
 * Serves a data folder, publishes from several agents at once and kills the server with SIGKILL at
 * a random moment, `rounds` times. After each start, all acknowledged content must be there and
 * complete, and the ledger must balance. Returns the number of acknowledged writes. Throws an
 * Error that names what was lost. A seed repeats contents and moments.
 */
export async function killWhilePublishing(
  dataDir: string,
  rounds: number,
  seed: number,
): Promise<number> {
  const draw = seeded(seed)
  const world: World = {
    keys: [],
    apps: new Map(),
    sentPages: new Set(),
    sentFiles: new Set(),
    acknowledged: 0,
  }
  for (let round = 1; round <= rounds; round += 1) {
    await publishUntilKilled(
      await startServerProcess(dataDir, { env: { DISK_FLOOR_BYTES: '0' } }),
      world,
      draw,
    )
    checkFolder(dataDir, false)
    const ctx = await startServerProcess(dataDir)
    try {
      checkFolder(dataDir, true)
      for (const [id, kept] of world.apps) await checkApp(ctx, world, id, kept)
      for (const key of world.keys) await checkUnknown(ctx, world, key)
    } finally {
      ctx.kill('SIGTERM')
      await ctx.exited
    }
    const { code, out, err } = await runBerth(['doctor', '--data', dataDir])
    expect(code === 0 && out.includes('sound'), `the books after round ${round}: ${out}${err}`)
  }
  return world.acknowledged
}

async function publishUntilKilled(ctx: ServerProcess, world: World, draw: () => number) {
  const enough = world.acknowledged + 3 + Math.floor(draw() * 20)
  const lateMs = draw() * 40
  const reached = Promise.withResolvers<void>()
  const late = setTimeout(reached.resolve, roundMsMax)
  let work: Promise<void>[] = []
  try {
    while (world.keys.length < agents) world.keys.push(await ctx.newKey())
    // Agents write until they lose the connection. An earlier error ends the race.
    work = world.keys.map(async (key) => {
      for (;;) {
        await step(ctx, world, key, draw)
        if (world.acknowledged >= enough) reached.resolve()
      }
    })
    await Promise.race([reached.promise, ...work])
    await Bun.sleep(lateMs)
  } finally {
    clearTimeout(late)
    ctx.kill('SIGKILL')
    await ctx.exited
    await Promise.allSettled(work)
  }
}

/** One write of an agent: a new app, a new version, or a file. */
async function step(
  ctx: ServerProcess,
  world: World,
  key: string,
  draw: () => number,
): Promise<void> {
  const own = [...world.apps].filter(([, kept]) => kept.key === key)
  const [id, kept] = own[Math.floor(draw() * own.length)] ?? []
  const kind = draw()
  if (!id || !kept || kind < 0.3) {
    const html = newPage(world, draw)
    const body = await answered(ctx.call('POST', '/api/apps', key, { html }), 201)
    const made: AcknowledgedApp = { key, pages: new Map([[1, html]]), newest: 1, files: new Map() }
    world.apps.set(textAt(body, 'app.id'), made)
  } else if (kind < 0.7) {
    const html = newPage(world, draw)
    const body = await answered(ctx.call('POST', `/api/apps/${id}/versions`, key, { html }), 201)
    const version = Number(Reflect.get(Object(Reflect.get(Object(body), 'app')), 'version'))
    kept.pages.set(version, html)
    kept.newest = Math.max(kept.newest, version)
  } else {
    const file = JSON.stringify({ notes: Array.from({ length: 20 }, draw) })
    world.sentFiles.add(file)
    const name = `${world.sentFiles.size}.json`
    const sent = new TextEncoder().encode(file)
    await answered(ctx.call('PUT', `/api/apps/${id}/assets/${name}`, key, sent), 201)
    kept.files.set(name, file)
  }
  world.acknowledged += 1
}

function newPage(world: World, draw: () => number): string {
  const size = pageBytes.least * (pageBytes.most / pageBytes.least) ** draw()
  const head = `<!doctype html><title>Page ${world.sentPages.size}</title><p>${draw()}`
  const html = head.padEnd(size, ` lamp ${world.sentPages.size}`)
  world.sentPages.add(html)
  return html
}

async function answered(call: Promise<Response>, status: number): Promise<unknown> {
  const response = await call
  const body: unknown = await response.json()
  expect(response.status === status, `${response.url}: ${response.status} ${JSON.stringify(body)}`)
  return body
}

async function checkApp(
  ctx: ServerProcess,
  world: World,
  id: string,
  kept: AcknowledgedApp,
): Promise<void> {
  const get = (path: string) => ctx.call('GET', path, kept.key)
  for (const [version, html] of kept.pages) {
    const there = await (await get(`/api/apps/${id}/html?version=${version}`)).text()
    expect(there === html, `version ${version} of ${id} differs from the acknowledged content`)
  }
  const shown = await (await get(`/a/${id}/data`)).text()
  expect(world.sentPages.has(shown), `the page of ${id} was never sent`)
  const body: unknown = await (await get(`/api/apps/${id}`)).json()
  const newest = Number(Reflect.get(Object(Reflect.get(Object(body), 'app') ?? body), 'version'))
  expect(newest >= kept.newest, `${id} is at version ${newest}, not ${kept.newest}`)
  if (newest === kept.newest) {
    expect(shown === kept.pages.get(newest), `${id} does not show its newest page`)
  }
  for (const [name, file] of kept.files) {
    const there = await (await get(`/api/apps/${id}/assets/${name}`)).text()
    expect(there === file, `the file ${name} of ${id} differs from the acknowledged content`)
  }
}

/** Checks apps whose response never arrived: each is complete, or it does not exist. */
async function checkUnknown(ctx: ServerProcess, world: World, key: string): Promise<void> {
  const body: unknown = await (await ctx.call('GET', '/api/apps?limit=100', key)).json()
  const apps: unknown = Reflect.get(Object(body), 'apps')
  expect(Array.isArray(apps), `no list of apps: ${JSON.stringify(body)}`)
  for (const app of apps) {
    const id = textAt(app, 'id')
    if (world.apps.has(id)) continue
    const html = await (await ctx.call('GET', `/api/apps/${id}/html`, key)).text()
    expect(world.sentPages.has(html), `${id} shows an incomplete page`)
    world.apps.set(id, { key, pages: new Map([[1, html]]), newest: 1, files: new Map() })
  }
}

const known =
  /^(berth\.sqlite(-wal|-shm)?|files|first-app|(link|settings)-secret|owner\.lock|control\.sock|settlements\.journal)$/

/** Checks that the folder has no unknown files and, while a server runs, no unfinished uploads. */
function checkFolder(dataDir: string, runs: boolean): void {
  for (const name of readdirSync(dataDir)) expect(known.test(name), `${name} was left behind`)
  const unfinished = runs ? readdirSync(join(dataDir, 'files/tmp')) : []
  expect(unfinished.length === 0, `unfinished files remain: ${unfinished.join(' ')}`)
}
