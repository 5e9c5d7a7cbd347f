import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { SQL } from 'bun'

import { newId } from '../../core/ids.ts'
import { type FakeUpstream, startFakeUpstream } from '../fakes/upstream.ts'
import { createDatabase, dropDatabase } from '../fixtures/databases.ts'
import {
  runBerth,
  type ServerProcess,
  startServerProcess,
  textAt,
} from '../processes/server-process.ts'

/** Servers in processes of their own, on one PostgreSQL database and one folder of files. */
export interface Replicas {
  servers: ServerProcess[]
  fake: FakeUpstream
  url: string
  sql: SQL
  /** Starts a server, or starts one again after its end. */
  start(index: number): Promise<ServerProcess>
  /** Runs a command on a machine that has only the database. Throws where it fails. */
  command(words: string[]): Promise<string>
  /** Creates a gateway account with credits and returns its key. */
  newGatewayKey(): Promise<string>
  close(): Promise<void>
}

const root = join(import.meta.dir, '../../..')
/** Longer than any run of the soak test. */
const lifeMsMax = 1_800_000
const program = [process.execPath, join(root, 'src/main.ts')]
const price = '{ prompt = "0.000001", completion = "0.000004" }'

/** Returns the settings of a server with models of the fake upstream. */
const configOf = (fake: FakeUpstream, models: string[]): string =>
  [
    `[[upstream]]\nname = "fake"\nkind = "openai"\nbase_url = "${fake.baseUrl}"\n`,
    ...models.map(
      (name) => `[[model]]
id = "fake/${name}"
upstream = "fake"
upstream_model = "fake/${name}"
type = "chat"
context_length = 8000
max_output = 1000
price = ${price}
`,
    ),
  ].join('\n')

interface ReplicaOptions {
  models?: string[]
  env?: Record<string, string>
  /** Returns settings for a database at this address. */
  through?(url: string): Promise<Record<string, string>>
}

/** Runs a command on a machine that has only the database. Throws where it fails. */
async function runCommand(folder: string, url: string, words: string[]): Promise<string> {
  const { code, out, err } = await runBerth([...words, '--data', join(folder, newId())], {
    program,
    env: { OLLAMA_HOST: 'off', DATABASE_URL: url },
  })
  if (code !== 0) throw new Error(`berth ${words.join(' ')}: ${out}${err}`)
  return out
}

/** Creates the data folder of a server, with the files of all servers. */
function createFolder(folder: string, index: number, config: string): string {
  const dataDir = join(folder, `data-${index}`)
  mkdirSync(join(folder, 'files'), { recursive: true })
  mkdirSync(dataDir, { recursive: true })
  rmSync(join(dataDir, 'files'), { force: true })
  symlinkSync(join(folder, 'files'), join(dataDir, 'files'))
  writeFileSync(join(dataDir, 'berth.toml'), config)
  return dataDir
}

/** Starts servers from source. */
export async function startReplicas(
  count: number,
  { models = ['ok', 'hang', 'slow', 'bad-json'], env = {}, through }: ReplicaOptions = {},
): Promise<Replicas> {
  const folder = mkdtempSync(join(tmpdir(), 'berth-replicas-'))
  const url = await createDatabase()
  const fake = startFakeUpstream()
  const servers: ServerProcess[] = []
  const settings = await through?.(url)
  const own = { OLLAMA_HOST: 'off', APP_URL: 'http://replicas.test', TRUSTED_PROXIES: '127.0.0.1' }
  const start = async (index: number): Promise<ServerProcess> => {
    const server = await startServerProcess(createFolder(folder, index, configOf(fake, models)), {
      program,
      lifeMs: lifeMsMax,
      env: { ...own, DATABASE_URL: url, ...env, ...settings },
    })
    servers[index] = server
    return server
  }
  const command = (words: string[]) => runCommand(folder, url, words)
  await Promise.all(Array.from({ length: count }, (_, index) => start(index)))
  const sql = new SQL(url, { max: 2 })
  return {
    servers,
    fake,
    url,
    sql,
    start,
    command,
    newGatewayKey: async () => {
      const [first] = servers
      if (!first) throw new Error('No server runs.')
      const account = await (await first.call('POST', '/accounts/create')).json()
      await command(['grant', textAt(account, 'credit_id'), '5'])
      return textAt(account, 'api_key')
    },
    close: async () => {
      for (const server of servers) server.kill('SIGKILL')
      await Promise.all(servers.map(({ exited }) => exited))
      fake.close()
      await sql.close()
      await dropDatabase(url)
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
