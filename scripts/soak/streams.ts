/**
 * `bun scripts/soak/streams.ts [count]`: opens streams through one server at the same time, each
 * with its own socket to the upstream. Default: 2,000. Needs dist/berth.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { openManyStreams } from '../../src/testing/processes/many-streams.ts'

const count = Number(Bun.argv[2] ?? 2_000)
const dir = mkdtempSync(join(tmpdir(), 'berth-soak-'))
try {
  const { sockets, done, rssMb, idleMb, held } = await openManyStreams(join(dir, 'data'), count)
  const each = ((rssMb - idleMb) * 1_024) / count
  console.log(`streams: ${sockets} sockets, ${done} of ${count} complete, ${held} USD held`)
  console.log(
    `streams: ${idleMb.toFixed(0)} MB idle, ${rssMb.toFixed(0)} MB live (${each.toFixed(0)} KiB each)`,
  )
  if (sockets !== count || done !== count || held !== 0) process.exitCode = 1
} finally {
  rmSync(dir, { recursive: true })
}
