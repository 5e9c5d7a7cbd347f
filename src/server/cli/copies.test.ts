import { afterAll, expect, setDefaultTimeout, test } from 'bun:test'
import { join } from 'node:path'

import { loadConfig } from '../../kernel/config/load.ts'
import { dialect } from '../../kernel/db/columns.ts'
import { openEngine } from '../../kernel/db/open.ts'
import { fillAgent } from '../../testing/fixtures/agent-archives.ts'
import { createDatabase, dropDatabase } from '../../testing/fixtures/databases.ts'
import { temporaryFolder } from '../../testing/fixtures/temporary-folder.ts'
import { startTestServer } from '../../testing/fixtures/test-server.ts'
import { runBerth } from '../../testing/processes/server-process.ts'
import { databaseCopy } from './copies.ts'

setDefaultTimeout(120_000)
const folder = temporaryFolder('berth-copy-')
const urls: string[] = []
afterAll(async () => {
  folder.remove()
  for (const url of urls) await dropDatabase(url)
})

async function newDatabase(): Promise<string> {
  const url = await createDatabase()
  urls.push(url)
  return url
}
const at = (...names: string[]): string => join(folder.path, ...names)
const configOf = (url: string, dir = 'data') =>
  loadConfig({ DATA_DIR: at(dir), DATABASE_URL: url }, {}, false)

/** The lines of a proof: a hash for each table. */
const hashesOf = (text: string): string[] =>
  text.split('\n').filter((line) => /^[0-9a-f]{16} {2}/.test(line))

test.skipIf(dialect === 'sqlite')(
  'an instance moves to SQLite and back with equal rows, balances, pages and search',
  async () => {
    const first = await newDatabase()
    const t = await startTestServer({}, { db: await openEngine({ ...configOf(first) }) })
    const ann = await t.agent('ann')
    const { game: id } = await fillAgent(t, ann)
    await ann.call('POST', `/apps/${id}/remix`, {})
    const { dataDir } = t.ctx.config
    const me = (await ann.call('GET', '/me')).body
    Bun.spawnSync(['cp', '-r', dataDir, at('data')])
    await t.close()

    const there = await databaseCopy(configOf(first), ['sqlite'])
    expect(there.text).toContain('equal hashes')
    const second = await newDatabase()
    const back = await databaseCopy(configOf(second), ['postgres'])
    expect(back.ok).toBe(true)
    expect(hashesOf(back.text)).toEqual(hashesOf(there.text))
    expect(hashesOf(back.text).length).toBeGreaterThan(5)

    const again = await startTestServer({}, { db: await openEngine({ ...configOf(second) }) })
    const key = ann.key
    expect((await again.call('GET', '/me', { key })).body).toEqual(me)
    const found = await again.call('GET', '/explore?q=boats')
    expect(found.body).toMatchObject({ items: [{ id }] })
    await again.close()
    const env = { OLLAMA_HOST: 'off', BUILDER_BROWSER: 'off' }
    const { out } = await runBerth(['doctor', '--data', at('data')], { env })
    expect(out).toContain('The ledger is sound')
  },
)

test.skipIf(dialect === 'sqlite')(
  'a target with rows and a missing database change nothing',
  async () => {
    const url = await newDatabase()
    const t = await startTestServer({}, { db: await openEngine({ ...configOf(url) }) })
    await t.agent('ann')
    await t.close()
    expect((await databaseCopy(configOf(url, 'full'), ['sqlite'])).ok).toBe(true)
    const copy = databaseCopy(configOf(url, 'full'), ['postgres'])
    expect(await copy.catch((error: unknown) => String(error))).toContain('empty database')
    expect(await databaseCopy(configOf(url, 'none'), ['postgres'])).toMatchObject({
      ok: false,
      text: expect.stringContaining('There is no database'),
    })
  },
)

test('the command says which settings it needs', async () => {
  const url = dialect === 'postgres' ? await newDatabase() : ''
  for (const words of [[], ['mysql'], ['sqlite', 'more']]) {
    const { ok, text } = await databaseCopy(configOf(url), words)
    expect([ok, text.startsWith('usage: ')]).toEqual([false, true])
  }
  const none = await databaseCopy(configOf(''), ['sqlite'])
  expect(none).toMatchObject({ ok: false, text: expect.stringContaining('DATABASE_URL') })
})
