/**
 * `bun scripts/seed.ts [base_url]`: publishes all samples through the Agent API of a server, by
 * default http://localhost:3000/api.
 */
import { publishSamples, type SampleName } from '../src/server/cli/samples.ts'

const names: SampleName[] = ['lampkeeper', 'slack-tide', 'pigment']
const apps = await publishSamples(Bun.argv[2] ?? 'http://localhost:3000/api', names)
console.log(apps.map(({ link }) => link).join('\n'))
