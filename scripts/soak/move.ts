/**
 * `bun src/testing/postgres.ts bun scripts/soak/move.ts [apps]`: moves an instance from SQLite to
 * PostgreSQL and back with `berth copy`, by default one of 10,000 apps. The hashes of all tables,
 * every balance, the links of apps and the export of an agent must be the same on all three. Needs
 * dist/berth.
 */
import { renameSync } from 'node:fs'
import { join } from 'node:path'

import { databaseUrl } from '../../src/kernel/config/load.ts'
import { sha256 } from '../../src/kernel/ids.ts'
import { stopwatch } from '../../src/kernel/time.ts'
import { temporaryFolder } from '../../src/testing/fixtures/temporary-folder.ts'
import {
  expect,
  runBerth,
  type ServerProcess,
  startServerProcess,
  textAt,
} from '../../src/testing/processes/server-process.ts'
import { many, seedMany } from '../bench/seed-many.ts'

const apps = Number(Bun.argv[2] ?? 10_000)
const lifeMs = 1_800_000
const folder = temporaryFolder('berth-move-')
const data = join(folder.path, 'data')
const file = join(data, 'berth.sqlite')
const onPostgres = { DATABASE_URL: databaseUrl() }
const offline = { OLLAMA_HOST: 'off', BUILDER_BROWSER: 'off' }
/** Pages that are read on each engine. Every page has a content of its own. */
const pageCount = Math.min(200, Math.ceil(apps / 4))

interface Maker {
  key: string
  ids: string[]
}

const start = (env: Record<string, string>): Promise<ServerProcess> =>
  startServerProcess(data, { lifeMs, env: { ...offline, ...env } })

async function stop(server: ServerProcess): Promise<void> {
  server.kill('SIGTERM')
  await server.exited
}

/** Publishes apps with a page and a file of their own, a remix, and data that players share. */
async function publish(server: ServerProcess): Promise<Maker> {
  const [key, other] = [await server.newKey(), await server.newKey()]
  const ids: string[] = []
  for (let at = 0; at < pageCount; at += 1) {
    const html = `<!doctype html><title>Boat ${at} 🚤</title><h1>“${at}”</h1>`
    const published = await server.call('POST', '/api/apps', key, { html, store: true })
    expect(published.status === 201, `publish ${at}: ${published.status}`)
    ids.push(textAt(await published.json(), 'app.id'))
  }
  const first = ids[0] ?? ''
  for (const [method, path, body] of [
    ['POST', `/api/apps/${first}/remix`, {}],
    ['POST', `/api/explore/${first}/comments`, { text: 'Calm.' }],
  ] as const) {
    const { status } = await server.call(method, path, other, body)
    expect(status === 201, `${method} ${path}: ${status}`)
  }
  return { key, ids }
}

/** Returns what must be the same on each engine: pages by their links, credits and the export. */
async function stateOf(server: ServerProcess, { key, ids }: Maker): Promise<string> {
  const pages: string[] = []
  for (const id of ids) {
    const page = await server.call('GET', `/a/${id}/data`)
    expect(page.status === 200, `the link of ${id}: ${page.status}`)
    pages.push(sha256(await page.bytes()))
  }
  const me: unknown = await (await server.call('GET', '/api/me', key)).json()
  const ledger = await (await server.call('GET', '/api/me/ledger?limit=100', key)).text()
  const listed = await (await server.call('GET', '/api/explore?q=boat&limit=100', key)).text()
  // Opening the pages above counts.
  const found = listed.replaceAll(server.origin, '').replaceAll(/"(?:opens|heat)":\d+/g, '')
  return sha256(JSON.stringify([pages, Reflect.get(Object(me), 'credits'), ledger, found]))
}

/** Runs `berth copy`. Returns the line of each table: its hash, name and number of rows. */
async function copy(to: 'postgres' | 'sqlite'): Promise<string[]> {
  const began = stopwatch()
  const env = { ...offline, ...onPostgres }
  const { code, out, err } = await runBerth(['copy', to, '--data', data], { env, lifeMs })
  expect(code === 0, `berth copy ${to}: ${err}${out}`)
  const hashes = out.split('\n').filter((line) => /^[0-9a-f]{16} {2}/.test(line))
  expect(hashes.length > 10, `berth copy ${to} has no proof: ${out}`)
  expect(out.includes('The ledger is sound'), `the ledger after berth copy ${to}: ${out}`)
  const seconds = ((stopwatch() - began) / 1_000).toFixed(1)
  console.log(
    `move: to ${to} in ${seconds} s: ${out.split('\n').find((line) => line.startsWith('Copied'))}`,
  )
  return hashes
}

try {
  console.log(`move: ${apps} apps`)
  const first = await start({})
  const maker = await publish(first)
  await stop(first)
  const agents = Math.max(1, Math.ceil(apps / 10))
  const rest = Math.max(0, apps - maker.ids.length)
  if (rest > 0) {
    const size = { ...many, agents, apps: rest, transfers: 2 * apps }
    seedMany(file, 'nobody000000', size)
  }
  const seeded = await start({})
  const before = await stateOf(seeded, maker)
  await stop(seeded)

  await copy('postgres')
  const moved = await start(onPostgres)
  expect((await stateOf(moved, maker)) === before, 'PostgreSQL shows another state than SQLite')
  await stop(moved)

  renameSync(file, `${file}.before`)
  const back = await copy('sqlite')
  const again = await start({})
  expect((await stateOf(again, maker)) === before, 'SQLite shows another state after the way back')
  await stop(again)
  console.log(`move: ${back.length} tables, ${maker.ids.length} pages and all balances are equal`)
} finally {
  folder.remove()
}
