/**
 * `bun scripts/soak/topups.ts [rounds] [seed]`: accounts top up with USDT and ETH on a local
 * chain while the server is killed with SIGKILL at random moments. Default: 300 rounds. The credits
 * must be what the chain has, to the unit. Needs dist/berth. DATABASE_URL selects PostgreSQL.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { randomBelow } from '../../src/kernel/ids.ts'
import { killWhileToppingUp } from '../../src/testing/processes/topup-kills.ts'

const rounds = Number(Bun.argv[2] ?? 300)
const seed = Number(Bun.argv[3] ?? randomBelow(2 ** 32))
const dir = mkdtempSync(join(tmpdir(), 'berth-soak-'))
console.log(`topups: ${rounds} rounds, seed ${seed}`)
try {
  const { kills, payments, value } = await killWhileToppingUp(join(dir, 'data'), rounds, seed)
  console.log(`topups: ${kills} kills, ${payments} payments, ${value} nano-USD, each credited once`)
} finally {
  rmSync(dir, { recursive: true })
}
