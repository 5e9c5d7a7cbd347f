/**
 * `bun scripts/soak/documents.ts [examples] [seed]`: sends the requests that Schemathesis derives
 * from both OpenAPI documents, by default 100 for each operation, and the bounds of every field.
 * With less than 10 examples, as in CI, the bounds are left out. A request that follows its schema
 * must not be rejected as invalid, one that violates it must be, and each response must be
 * declared. src/testing/openapi/outside-schema.ts has the exceptions. Needs Python 3 with venv.
 */
import { checkDocuments } from '../../src/testing/openapi/check-documents.ts'
import { installSchemathesis } from '../../src/testing/openapi/schemathesis.ts'
import { installPackages } from '../check/packages.ts'
import { succeeds } from '../check/run.ts'

const examples = Number(Bun.argv[2] ?? 100)
const seed = Number(Bun.argv[3] ?? 22)

const isRequired = Bun.env['CI'] !== undefined
const python = { tests: 'the OpenAPI documents', program: 'python3', packages: ['python3-venv'] }
if (!(await installPackages(python, succeeds))) process.exit(1)
if (Bun.which(python.program) === null) process.exit(0)
if (!(await installSchemathesis(succeeds))) {
  console.log('Skipping tests of the OpenAPI documents: Schemathesis could not be installed.')
  process.exit(isRequired ? 1 : 0)
}
console.log(`documents: ${examples} examples, seed ${seed}`)
const phases = examples < 10 ? 'fuzzing' : 'coverage,fuzzing'
const { cases, problems } = await checkDocuments({ examples, seed, phases })
for (const problem of problems) console.log(`documents: ${problem}`)
console.log(`documents: ${cases} requests, ${problems.length} problems`)
if (problems.length > 0) process.exitCode = 1
