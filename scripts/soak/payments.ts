/**
 * `bun scripts/soak/payments.ts [rounds] [seed]`: agents pay by x402 on a local chain while the
 * server is killed with SIGKILL at random moments. Default: 300 rounds. The credits must be what
 * the payee received, to the unit. Needs dist/berth. DATABASE_URL selects PostgreSQL.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { randomBelow } from '../../src/kernel/ids.ts'
import { killWhilePaying } from '../../src/testing/processes/payment-kills.ts'

const rounds = Number(Bun.argv[2] ?? 300)
const seed = Number(Bun.argv[3] ?? randomBelow(2 ** 32))
const dir = mkdtempSync(join(tmpdir(), 'berth-soak-'))
console.log(`payments: ${rounds} rounds, seed ${seed}`)
try {
  const { kills, payments, units } = await killWhilePaying(join(dir, 'data'), rounds, seed)
  console.log(`payments: ${kills} kills, ${payments} payments, ${units} units, each credited once`)
} finally {
  rmSync(dir, { recursive: true })
}
