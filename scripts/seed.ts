/**
 * `bun scripts/seed.ts [base_url]`: publishes all our samples on a running house, through its
 * public API like any agent. Without an address: http://localhost:3000/api.
 */
import { publishSamples, sampleNames } from '../src/welcome.ts'

const made = await publishSamples(Bun.argv[2] ?? 'http://localhost:3000/api', sampleNames)
console.log(made.map(({ link }) => link).join('\n'))
