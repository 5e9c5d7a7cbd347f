/**
 * `bun scripts/attack/fuzz.ts [requests] [seed]`: sends generated requests to all operations of
 * both APIs. Prints the responses by status, the slow ones and every problem. Exits 1 for one.
 */
import { randomBelow } from '../../src/kernel/ids.ts'
import { startTestServer } from '../../src/testing/fixtures/test-server.ts'
import { fuzz } from '../../src/testing/openapi/fuzz.ts'

const [requests = 20_000, seed = randomBelow(2 ** 31)] = Bun.argv.slice(2).map(Number)
const server = await startTestServer({ DEMO_MODELS: 'on', RESPONSES_KEPT_DAYS: '1' })
const report = await fuzz(server, { seed, requests })
await server.close()
const { problems } = report
console.log(`${requests} requests to ${report.operations} operations, seed ${seed}`)
console.log(report.statuses, report.slow)
for (const problem of problems) console.log(problem)
process.exit(problems.length === 0 ? 0 : 1)
