import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { SQL } from 'bun'

import { newId, randomBelow } from '../../kernel/ids.ts'
import type { Bucket } from '../../store/s3/client.ts'
import { type FakeUpstream, startFakeUpstream } from '../fakes/upstream.ts'
import { createDatabase, dropDatabase } from '../fixtures/databases.ts'
import { fakeModelsToml } from '../fixtures/fake-models.ts'
import { bucketSettings } from '../fixtures/s3-server.ts'
import {
  binaryPath,
  runBerth,
  type ServerProcess,
  startServerProcess,
  textAt,
} from '../processes/server-process.ts'
import { until } from '../until.ts'

/** Servers in processes of their own, on one PostgreSQL database and one folder or bucket. */
export interface Replicas {
  servers: ServerProcess[]
  fake: FakeUpstream
  url: string
  sql: SQL
  /**
   * Starts a server, or starts one again at the same port after its end. `source`: the folder of
   * its source, by default that of the options.
   */
  start(index: number, source?: string): Promise<ServerProcess>
  /** Runs a command on a machine that has only the database. Throws where it fails. */
  command(words: string[]): Promise<string>
  /** Creates a gateway account with credits and returns its key. */
  newGatewayKey(usd?: string): Promise<string>
  close(): Promise<void>
}

/** A command needs a second, and minutes on a busy machine. */
const commandMsMax = 300_000
const startsMax = 10
/** Longer than any run of the soak test. */
const lifeMsMax = 1_800_000
/** A start from source takes ten times the processor time of one of the executable. */
const programIn = (source: string | undefined): string[] =>
  source === undefined ? [binaryPath] : [process.execPath, join(source, 'src/main.ts')]

interface ReplicaOptions {
  models?: string[]
  /** More of the configuration: models of other types. */
  toml?: string
  env?: Record<string, string>
  /** The folder of the source of the servers. By default they run dist/berth. */
  source?: string
  /** An empty database, which stays. By default, one of the server of DATABASE_URL. */
  database?: string
  /** The bucket of the files. By default, all servers share a folder. */
  bucket?: Bucket
  /** Returns settings for a database at this address. */
  through?(url: string): Promise<Record<string, string>>
}

/** Runs a command on a machine that has only the database. Throws where it fails. */
async function runCommand(
  folder: string,
  env: Record<string, string>,
  words: string[],
): Promise<string> {
  const own = [...words, '--data', join(folder, newId())]
  const { code, out, err } = await runBerth(own, { env, lifeMs: commandMsMax })
  if (code !== 0) throw new Error(`berth ${words.join(' ')}: ${out}${err}`)
  return out
}

/**
 * Returns a free port that no connection takes while its server is down: Linux gives connections
 * ports from 32768 on.
 */
function stablePort(): number {
  for (let tries = 1; ; tries += 1) {
    const port = 20_000 + randomBelow(10_000)
    try {
      Bun.listen({ hostname: '127.0.0.1', port, socket: { data() {} } }).stop(true)
      return port
    } catch (error) {
      if (tries === startsMax) throw error
    }
  }
}

/** Repeats a start for which the bucket or the database was too slow, as a service manager does. */
async function withRetries<T>(start: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await start()
    } catch (error) {
      if (tries === startsMax || !/cannot be reached|try_again|rolled back/.test(String(error)))
        throw error
    }
  }
}

/** Creates the data folder of a server, with the files of all servers unless a bucket has them. */
function createFolder(folder: string, index: number, config: string, hasBucket: boolean): string {
  const dataDir = join(folder, `data-${index}`)
  mkdirSync(join(folder, 'files'), { recursive: true })
  mkdirSync(dataDir, { recursive: true })
  if (!hasBucket) {
    rmSync(join(dataDir, 'files'), { force: true })
    symlinkSync(join(folder, 'files'), join(dataDir, 'files'))
  }
  writeFileSync(join(dataDir, 'berth.toml'), config)
  return dataDir
}

/**
 * Creates an account from an address of its own: one address may create a hundred accounts a day.
 */
const createAccount = (origin: string, count: number): Promise<unknown> =>
  // On a busy machine, the database may take longer than a request waits for it.
  until(async () => {
    const created = await fetch(`${origin}/accounts/create`, {
      method: 'POST',
      headers: { 'x-forwarded-for': `10.0.${count >> 8}.${count & 255}` },
    })
    return created.ok && created.json()
  })

/** Starts servers. */
export async function startReplicas(
  count: number,
  options: ReplicaOptions = {},
): Promise<Replicas> {
  const { models = ['ok', 'hang', 'slow', 'bad-json'], toml = '', bucket, through } = options
  const folder = mkdtempSync(join(tmpdir(), 'berth-replicas-'))
  const url = options.database ?? (await createDatabase())
  const fake = startFakeUpstream()
  const servers: ServerProcess[] = []
  const own = { OLLAMA_HOST: 'off', ...(bucket && bucketSettings(bucket)), DATABASE_URL: url }
  const env = {
    ...own,
    APP_URL: 'http://replicas.test',
    TRUSTED_PROXIES: '127.0.0.1',
    ...options.env,
    ...(await through?.(url)),
  }
  const config = `${fakeModelsToml(fake.baseUrl, models)}\n${toml}`
  const start: Replicas['start'] = async (index, source = options.source) => {
    const before = servers[index]
    const dataDir = createFolder(folder, index, config, bucket !== undefined)
    const port = before ? Number(new URL(before.origin).port) : stablePort()
    const program = programIn(source)
    const server = await withRetries(() =>
      startServerProcess(dataDir, { program, lifeMs: lifeMsMax, env, port }),
    )
    servers[index] = server
    return server
  }
  const command = (words: string[]) => withRetries(() => runCommand(folder, own, words))
  await Promise.all(Array.from({ length: count }, (_, index) => start(index)))
  const sql = new SQL(url, { max: 2 })
  let accounts = 0
  return {
    servers,
    fake,
    url,
    sql,
    start,
    command,
    newGatewayKey: async (usd = '5') => {
      const [first] = servers
      if (!first) throw new Error('No server runs.')
      accounts += 1
      const account = await createAccount(first.origin, accounts)
      await command(['grant', textAt(account, 'credit_id'), usd])
      return textAt(account, 'api_key')
    },
    close: async () => {
      for (const server of servers) server.kill('SIGKILL')
      await Promise.all(servers.map(({ exited }) => exited))
      fake.close()
      await sql.close()
      if (options.database === undefined) await dropDatabase(url)
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
