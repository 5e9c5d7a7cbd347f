import { join } from 'node:path'

import { costUs, requestFor, runLoad, targetAt, throughput } from './load/load.ts'
import { pageOf } from './load/page.ts'
import { publishOn, spawnServer, startBerthServer } from './load/served.ts'
import { atLeast, type BenchRow } from './row.ts'

const limit = 0.5

/**
 * Measures GET /apps/{id} with a key against a bare Bun.serve that runs one prepared SELECT by id.
 */
export async function bench(): Promise<BenchRow[]> {
  const ctx = await startBerthServer()
  const { id, key } = await publishOn(ctx, pageOf(2_000))
  const database = join(ctx.dataDir, 'berth.sqlite')
  const script = join(import.meta.dir, 'peers/select.ts')
  const peer = await spawnServer([process.execPath, script, database])
  const authorization = `Bearer ${key}`
  const [ours = [], theirs = []] = await runLoad({
    connections: 32,
    turnMs: 100,
    rounds: 25,
    targets: [
      targetAt(ctx, requestFor(`/api/apps/${id}`, { authorization })),
      targetAt(peer, requestFor(`/apps/${id}`)),
    ],
  })
  await peer.stop()
  await ctx.stop()
  const costs = `${costUs(ours).toFixed(1)} us of CPU vs. ${costUs(theirs).toFixed(1)} us`
  const name = `GET /apps/{id} with a key, throughput vs. a bare prepared SELECT (${costs})`
  return [atLeast(name, throughput(ours, theirs), limit)]
}
