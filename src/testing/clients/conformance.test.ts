/** The protocol's conformance suites with every scenario for tool servers, in both revisions. */
import { afterAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'

import { fixtures } from '../fixtures/mcp-conformance.ts'
import { node, startMcpTestServer } from '../fixtures/mcp-server.ts'

const modules = join(import.meta.dir, '../../../node_modules')

const both = [
  'tools-list',
  'tools-call-simple-text',
  'tools-call-image',
  'tools-call-audio',
  'tools-call-embedded-resource',
  'tools-call-mixed-content',
  'tools-call-error',
  'tools-call-with-progress',
  'json-schema-2020-12',
  'server-sse-multiple-streams',
  'dns-rebinding-protection',
]
const suites = [
  {
    name: 'conformance-legacy',
    revision: '2025-11-25',
    scenarios: [
      ...both,
      'server-initialize',
      'logging-set-level',
      'ping',
      'tools-call-with-logging',
    ],
  },
  {
    name: 'conformance-modern',
    revision: '2026-07-28',
    scenarios: [
      ...both,
      'server-stateless',
      'caching',
      'http-header-validation',
      'http-custom-header-server-validation',
      'sep-2164-resource-not-found',
      'input-required-result-unsupported-methods',
    ],
  },
]

const ctx = await startMcpTestServer(fixtures)
afterAll(() => ctx.close())

/** Runs a scenario and returns its exit code and output. */
async function run(suite: string, revision: string, scenario: string) {
  const cli = join(modules, suite, 'dist/index.js')
  const words = ['server', '--url', ctx.url, '--spec-version', revision, '--scenario', scenario]
  const child = Bun.spawn([node, cli, ...words], {
    stdout: 'pipe',
    stderr: 'pipe',
    timeout: 60_000,
  })
  const [output, errorOutput, code] = await Promise.all([
    child.stdout.text(),
    child.stderr.text(),
    child.exited,
  ])
  return { code, output: output + errorOutput }
}

for (const { name, revision, scenarios } of suites) {
  describe(`${name}, ${revision}`, () => {
    test.each(scenarios)(
      '%s',
      async (scenario) => {
        const { code, output } = await run(name, revision, scenario)
        expect(output).toMatch(/Passed: (\d+)\/\1, 0 failed/)
        expect(code).toBe(0)
      },
      60_000,
    )
  })
}

test('a failing scenario is reported', async () => {
  const { code, output } = await run('conformance-modern', '2026-07-28', 'completion-complete')
  expect(output).toContain('1 failed')
  expect(code).not.toBe(0)
}, 60_000)
