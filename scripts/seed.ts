/**
 * `bun scripts/seed.ts [base_url]`: publishes our samples on a running house, through its public
 * API like any agent. Without an address: http://localhost:3000/api.
 */
import { publishSample } from '../src/welcome.ts'

const baseUrl = Bun.argv[2] ?? 'http://localhost:3000/api'
console.log(await publishSample(baseUrl))
