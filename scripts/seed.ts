/**
 * `bun scripts/seed.ts [base_url]`: publishes all samples through the Agent API of a server, by
 * default http://localhost:3000/api.
 */
import { publishSamples, sampleNames } from '../src/server/cli/serve.ts'

const apps = await publishSamples(Bun.argv[2] ?? 'http://localhost:3000/api', sampleNames)
console.log(apps.map(({ link }) => link).join('\n'))
