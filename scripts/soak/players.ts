/**
 * `bun scripts/soak/players.ts [rounds] [seed]`: players call models while consent, margin and
 * sponsor change, beside an allowance of the operator, and the server is killed with SIGKILL at
 * random moments. Default: 200 rounds. No cap may be exceeded, and each charge is divided to the
 * nano-USD. Needs dist/berth.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { randomBelow } from '../../src/kernel/ids.ts'
import { killWhilePlaying } from '../../src/testing/processes/player-kills.ts'

const rounds = Number(Bun.argv[2] ?? 200)
const seed = Number(Bun.argv[3] ?? randomBelow(2 ** 32))
const dir = mkdtempSync(join(tmpdir(), 'berth-soak-'))
console.log(`players: ${rounds} rounds, seed ${seed}`)
try {
  const run = await killWhilePlaying(join(dir, 'data'), rounds, seed)
  console.log(
    `players: ${run.kills} kills, ${run.charged} charges, ${run.withMargin} with a margin, ${run.sponsored} sponsored, ${run.allowed} by the operator, 0 violations`,
  )
} finally {
  rmSync(dir, { recursive: true })
}
