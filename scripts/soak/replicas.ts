/**
 * `bun scripts/soak/replicas.ts [seconds] [seed]`: runs the journeys of both APIs through nginx on
 * three servers with PostgreSQL and a bucket. One server is killed every two seconds, and
 * PostgreSQL is restarted every nine (`pg_ctl restart -m fast` and `-m immediate` in turn).
 * Default: 600 seconds. Acknowledged content must survive, each call must be charged once, and
 * `berth doctor` must find nothing. Needs dist/berth, and Debian's packages postgresql, swift-* and
 * nginx-light.
 */
import { randomBelow } from '../../src/kernel/ids.ts'
import { killReplicas } from '../../src/testing/replicas/kill-loop.ts'

const seconds = Number(Bun.argv[2] ?? 600)
const seed = Number(Bun.argv[3] ?? randomBelow(2 ** 32))
console.log(`replicas: ${seconds} seconds, seed ${seed}`)
const { kills, restarts, apps, files, calls } = await killReplicas(seconds, seed)
console.log(
  `replicas: ${kills} kills of servers and ${restarts} restarts of PostgreSQL; ${apps} apps, ` +
    `${files} files and ${calls} calls acknowledged, none lost or charged twice, the ledger is sound`,
)
process.exit(0)
