/**
 * `bun src/testing/postgres.ts bun scripts/soak/replicas.ts [seconds] [seed]`: serves with three
 * servers on one database, kills one of them every two seconds, and ends all sessions of the
 * database every nine. Default: 600 seconds. Acknowledged content must survive, each call must be
 * charged once, and the ledger must balance.
 */
import { randomBelow } from '../../src/core/ids.ts'
import { killReplicas } from '../../src/testing/replicas/kill-loop.ts'

const seconds = Number(Bun.argv[2] ?? 600)
const seed = Number(Bun.argv[3] ?? randomBelow(2 ** 32))
console.log(`replicas: ${seconds} seconds, seed ${seed}`)
const { kills, cuts, apps, calls } = await killReplicas(seconds, seed)
console.log(
  `replicas: ${kills} kills and ${cuts} losses of all connections; ${apps} apps and ${calls} ` +
    'calls acknowledged, none lost or charged twice, the ledger is sound',
)
process.exit(0)
