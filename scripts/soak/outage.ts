/**
 * `bun src/testing/postgres.ts bun scripts/soak/outage.ts [seconds]`: stops PostgreSQL with SIGSTOP
 * for 30 s (or as given) under 15 streams and 4 failing calls. They must be charged exactly. Needs
 * dist/berth and DATABASE_URL.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { SQL } from 'bun'

import { databaseUrl } from '../../src/kernel/config/load.ts'
import { scripts } from '../../src/testing/fakes/chat-scripts.ts'
import { startFakeUpstream } from '../../src/testing/fakes/upstream.ts'
import { createDatabase, dropDatabase } from '../../src/testing/fixtures/databases.ts'
import { runBerth, startServerProcess, textAt } from '../../src/testing/processes/server-process.ts'
import { until } from '../../src/testing/until.ts'

const seconds = Number(Bun.argv[2] ?? 30)
const worth = 0.000037
const dir = mkdtempSync(join(tmpdir(), 'berth-soak-'))
const dataDir = join(dir, 'data')
const url = await createDatabase()
const admin = new SQL(databaseUrl(), { max: 1 })
const fake = startFakeUpstream()

/** Sends a signal to all processes of the PostgreSQL server on this machine. */
async function signalPostgres(signal: 'STOP' | 'CONT', pids: number[]): Promise<void> {
  for (const pid of pids) await Bun.spawn(['kill', `-${signal}`, String(pid)]).exited
}

const model = (name: string) => `[[model]]
id = "fake/${name}"
upstream = "fake"
upstream_model = "fake/${name}"
type = "chat"
context_length = 8000
max_output = 1000
price = { prompt = "0.000001", completion = "0.000004", cache_read = "0.0000005" }
`

try {
  mkdirSync(dataDir)
  const upstream = `[[upstream]]\nname = "fake"\nkind = "openai"\nbase_url = "${fake.baseUrl}"\n`
  writeFileSync(
    join(dataDir, 'berth.toml'),
    [upstream, model('late'), model('late-500')].join('\n'),
  )
  const env = { OLLAMA_HOST: 'off', DATABASE_URL: url }
  const server = await startServerProcess(dataDir, { env })
  const account = await (await server.call('POST', '/accounts/create')).json()
  const [creditId, key] = [textAt(account, 'credit_id'), textAt(account, 'api_key')]
  await runBerth(['grant', creditId, '1', '--data', dataDir], { env })
  const gate = Promise.withResolvers<void>()
  const later = { until: gate.promise }
  fake.script('fake/late', [later, ...(scripts.ok?.stream ?? [])])
  fake.script('fake/late-500', [later, ...(scripts['500']?.plain ?? [])])
  const chat = async (name: string) => {
    const body = {
      model: name,
      stream: name === 'fake/late',
      messages: [{ role: 'user', content: 'Hi.' }],
    }
    return (await server.call('POST', '/v1/chat/completions', key, body)).text()
  }
  const calls = [
    ...Array.from({ length: 15 }, () => chat('fake/late')),
    ...Array.from({ length: 4 }, () => chat('fake/late-500')),
  ]
  await until(() => fake.received.length === 19)
  const sessions: { pid: number }[] =
    await admin`select pid from pg_stat_activity where datname is not null and pid <> pg_backend_pid()`
  const pids = sessions.map(({ pid }) => pid)
  await signalPostgres('STOP', pids)
  gate.resolve()
  await Bun.sleep(seconds * 1_000)
  await signalPostgres('CONT', pids)
  const texts = await Promise.all(calls)
  const done = texts.filter((text) => text.includes('[DONE]')).length
  const balance = async () =>
    Object(await (await server.call('POST', '/credits/balance', key, {})).json())
  await until(async () => (await balance()).held === 0)
  const spent = 1 - (await balance()).balance
  server.kill('SIGTERM')
  await server.exited
  const doctor = await runBerth(['doctor', '--data', dataDir], { env })
  console.log(
    `outage: ${seconds} s, ${done} of 15 whole, ${spent.toFixed(9)} USD charged, ${doctor.out.trim()}`,
  )
  if (Math.abs(spent - 15 * worth) > 1e-9 || done !== 15 || doctor.code !== 0) process.exitCode = 1
} finally {
  fake.close()
  await admin.end()
  await dropDatabase(url)
  rmSync(dir, { recursive: true })
}
