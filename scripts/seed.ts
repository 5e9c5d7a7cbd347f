/**
 * `bun scripts/seed.ts [base_url]`: publishes all our samples on a running house, through its
 * public API like any agent. Without an address: http://localhost:3000/api.
 */
import { publishSamples, type SampleName } from '../src/cli/samples.ts'

const names: SampleName[] = ['lampkeeper', 'slack-tide', 'pigment']
const made = await publishSamples(Bun.argv[2] ?? 'http://localhost:3000/api', names)
console.log(made.map(({ link }) => link).join('\n'))
