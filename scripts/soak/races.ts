/**
 * `bun scripts/soak/races.ts [rounds]`: requests race for one thing through nginx on three servers
 * with PostgreSQL and a bucket: one Idempotency-Key, one handle, one ref, the last credit, one
 * claim. Default: 200 rounds each. One of them must get it. Needs dist/berth, and Debian's packages
 * postgresql, swift-* and nginx-light.
 */
import { races } from '../../src/testing/replicas/races.ts'
import { startSystem } from '../../src/testing/replicas/system.ts'

const rounds = Number(Bun.argv[2] ?? 200)
const system = await startSystem(3)
try {
  for (const [prize, race] of Object.entries(races)) {
    await race(system, rounds)
    console.log(`races: ${prize}: ${rounds} rounds, one of many each`)
  }
  console.log(`races: ${(await system.r.command(['doctor'])).trim()}`)
} finally {
  await system.close()
}
process.exit(0)
