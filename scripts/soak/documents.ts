/**
 * `bun scripts/soak/documents.ts [examples] [seed]`: sends the requests that Schemathesis derives
 * from both OpenAPI documents: the bounds of every field, and random ones, by default 30 for each
 * operation. A request that follows its schema must not be rejected as invalid, one that violates
 * it must be, and each response must be declared. src/testing/openapi/outside-schema.ts has the
 * exceptions. Needs Python 3 with venv.
 */
import { checkDocuments } from '../../src/testing/openapi/check-documents.ts'
import { installSchemathesis } from '../../src/testing/openapi/schemathesis.ts'
import { installPackages } from '../check/packages.ts'
import { succeeds } from '../check/run.ts'

const examples = Number(Bun.argv[2] ?? 30)
const seed = Number(Bun.argv[3] ?? 22)

const python = { tests: 'the OpenAPI documents', program: 'python3', packages: ['python3-venv'] }
if (!(await installPackages(python, succeeds))) process.exit(1)
if (Bun.which(python.program) === null) process.exit(0)
if (!(await installSchemathesis(succeeds))) {
  console.log('Skipping tests of the OpenAPI documents: Schemathesis could not be installed.')
  process.exit(Bun.env['CI'] === undefined ? 0 : 1)
}
console.log(`documents: ${examples} examples, seed ${seed}`)
const { operations, cases, problems } = await checkDocuments({ examples, seed })
for (const problem of problems) console.log(`documents: ${problem}`)
console.log(`documents: ${operations} operations, ${cases} requests, ${problems.length} problems`)
if (problems.length > 0) process.exitCode = 1
