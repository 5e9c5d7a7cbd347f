/**
 * `bun scripts/soak/builds.ts [rounds] [seed]`: runs builds and assets, kills the server with
 * SIGKILL at each step in turn and starts it again. Default: 200 rounds. Each job must end done
 * and charged once, or failed and refunded. Needs dist/berth.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { randomBelow } from '../../src/kernel/ids.ts'
import { killDuringBuilds } from '../../src/testing/processes/build-kills.ts'

const atOnce = 12
const rounds = Number(Bun.argv[2] ?? 200)
const seed = Number(Bun.argv[3] ?? randomBelow(2 ** 32))
const dir = mkdtempSync(join(tmpdir(), 'berth-soak-'))
console.log(`builds: ${rounds} rounds, seed ${seed}`)
try {
  // In small groups, so that earlier results are printed when a later one fails.
  for (let done = 0; done < rounds; done += atOnce) {
    const killed = await killDuringBuilds(
      join(dir, 'data'),
      Math.min(atOnce, rounds - done),
      seed + done,
    )
    const counts = Object.groupBy(killed, ({ ends }) => ends.join(', '))
    const lines = Object.entries(counts).map(([ends, all = []]) => `${all.length}x ${ends}`)
    console.log(`builds: ${done + killed.length} rounds: ${lines.join('; ')}`)
  }
} finally {
  rmSync(dir, { recursive: true })
}
