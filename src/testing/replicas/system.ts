import { chmodSync } from 'node:fs'
import { join } from 'node:path'

import { type PostgresServer, startPostgresServer } from '../fixtures/postgres-server.ts'
import { startS3Server } from '../fixtures/s3-server.ts'
import { temporaryFolder } from '../fixtures/temporary-folder.ts'
import { startBalancer } from './balancer.ts'
import { Front } from './front.ts'
import { type Replicas, startReplicas } from './replicas.ts'

/** Everything of docs/scaling.md: nginx, servers, PostgreSQL and an S3 server. */
export interface System {
  r: Replicas
  front: Front
  postgres: PostgresServer
  close(): Promise<void>
}

/**
 * Starts nginx, servers of dist/berth or from the source in a folder, and PostgreSQL and Swift of
 * Debian.
 */
export async function startSystem(servers: number, source?: string): Promise<System> {
  const folder = temporaryFolder('berth-system-')
  chmodSync(folder.path, 0o755)
  const [postgres, s3] = await Promise.all([startPostgresServer(), startS3Server()])
  const r = await startReplicas(servers, {
    database: await postgres.create(),
    bucket: await s3.createBucket(),
    ...(source !== undefined && { source }),
  })
  const origins = r.servers.map(({ origin }) => origin)
  const balancer = await startBalancer(join(folder.path, 'nginx'), origins)
  return {
    r,
    front: new Front(`http://127.0.0.1:${balancer.port}`),
    postgres,
    close: async () => {
      await balancer.close()
      await r.close()
      await Promise.all([postgres.stop(), s3.stop()])
      folder.remove()
    },
  }
}
