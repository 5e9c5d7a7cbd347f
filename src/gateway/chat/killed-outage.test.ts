/** A server that is killed while the outcomes of its calls wait for the database. */
import { Database } from 'bun:sqlite'
import { afterAll, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { dialect } from '../../kernel/db/columns.ts'
import { Journal } from '../../store/journal.ts'
import { scripts } from '../../testing/fakes/chat-scripts.ts'
import { startFakeUpstream } from '../../testing/fakes/upstream.ts'
import { createDatabase, dropDatabase } from '../../testing/fixtures/databases.ts'
import { fakeModelsToml } from '../../testing/fixtures/fake-models.ts'
import { startPausableProxy } from '../../testing/fixtures/pausable-proxy.ts'
import { runBerth, startServerProcess, textAt } from '../../testing/processes/server-process.ts'
import { until } from '../../testing/until.ts'

const folder = mkdtempSync(join(tmpdir(), 'berth-killed-outage-'))
const dataDir = join(folder, 'data')
const env: Record<string, string> = { OLLAMA_HOST: 'off' }
const worth = 0.000037
const chats = 15
const failures = 4
let proxy: ReturnType<typeof startPausableProxy> | undefined
let url: string | undefined

if (dialect === 'postgres') {
  url = await createDatabase()
  proxy = startPausableProxy(new URL(url))
  const through = new URL(url)
  through.host = proxy.host
  env.DATABASE_URL = through.href
}
const fake = startFakeUpstream()
mkdirSync(dataDir)
const price = 'prompt = "0.000001", completion = "0.000004", cache_read = "0.0000005"'
const toml = fakeModelsToml(fake.baseUrl, ['late', 'late-500'], price)
writeFileSync(join(dataDir, 'berth.toml'), toml)
afterAll(async () => {
  fake.close()
  proxy?.close()
  if (url) await dropDatabase(url)
  rmSync(folder, { recursive: true, force: true })
})

/** Stops the database for the server. Returns the function that resumes it. */
function stopDatabase(): () => void {
  if (proxy) {
    const { pause, resume } = proxy
    pause()
    return resume
  }
  const other = new Database(join(dataDir, 'berth.sqlite'))
  // The server may write at this moment.
  other.run('pragma busy_timeout = 20000')
  other.run('begin immediate')
  return () => {
    other.run('rollback')
    other.close()
  }
}

async function countJournaled(): Promise<number> {
  const secret = readFileSync(join(dataDir, 'link-secret'), 'utf8').trim()
  const journal = await Journal.open(join(dataDir, 'settlements.journal'), secret)
  await journal.close()
  return journal.found.length
}

test('kill -9 with outcomes in the journal: the next start charges exactly those', async () => {
  let server = await startServerProcess(dataDir, { env })
  const account = await (await server.call('POST', '/accounts/create')).json()
  const [creditId, key] = [textAt(account, 'credit_id'), textAt(account, 'api_key')]
  expect((await runBerth(['grant', creditId, '1', '--data', dataDir], { env })).code).toBe(0)
  const gate = Promise.withResolvers<void>()
  const later = { until: gate.promise }
  fake.script('fake/late', [later, ...(scripts.ok?.stream ?? [])])
  fake.script('fake/late-500', [later, ...(scripts['500']?.plain ?? [])])
  const chat = (model: string) =>
    server
      .call('POST', '/v1/chat/completions', key, {
        model,
        stream: model === 'fake/late',
        messages: [{ role: 'user', content: 'Hello.' }],
      })
      .then((response) => response.text())
      .catch(() => 'cut')
  const calls = [
    ...Array.from({ length: chats }, () => chat('fake/late')),
    ...Array.from({ length: failures }, () => chat('fake/late-500')),
  ]
  await fake.arrival(chats + failures - 1)
  const resume = stopDatabase()
  gate.resolve()
  await until(async () => (await countJournaled()) === chats + failures)
  server.kill('SIGKILL')
  await Promise.all([server.exited, ...calls])
  resume()

  server = await startServerProcess(dataDir, { env })
  const balanceOf = async () =>
    Object(await (await server.call('POST', '/credits/balance', key, {})).json())
  await until(async () => (await balanceOf()).held === 0)
  expect((await balanceOf()).balance).toBeCloseTo(1 - chats * worth, 9)
  const history = Object(await (await server.call('GET', '/queries/history', key)).json())
  expect(history.total).toBe(chats + failures)
  await until(async () => (await countJournaled()) === 0)
  server.kill('SIGTERM')
  await server.exited
  const doctor = await runBerth(['doctor', '--data', dataDir], { env })
  expect([doctor.code, doctor.out]).toEqual([0, expect.stringContaining('sound')])
}, 90_000)
