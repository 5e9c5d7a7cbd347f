/**
 * `bun scripts/soak/kill.ts [rounds] [seed]`: publishes, kills the server with SIGKILL and starts
 * it again. Default: 100 rounds. All acknowledged content must survive. Needs dist/berth.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { randomBelow } from '../../src/kernel/ids.ts'
import { killWhilePublishing } from '../../src/testing/processes/publish-kills.ts'

const rounds = Number(Bun.argv[2] ?? 100)
const seed = Number(Bun.argv[3] ?? randomBelow(2 ** 32))
const dir = mkdtempSync(join(tmpdir(), 'berth-soak-'))
console.log(`kill: ${rounds} rounds, seed ${seed}`)
try {
  const writes = await killWhilePublishing(join(dir, 'data'), rounds, seed)
  console.log(`kill: ${writes} acknowledged writes, none lost`)
} finally {
  rmSync(dir, { recursive: true })
}
