/** The protocol's conformance suites with every scenario for tool servers, in both revisions. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
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
      'server-sse-multiple-streams',
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

/** Runs all scenarios of a suite in one process and returns the line of each in its summary. */
async function run(suite: string, revision: string): Promise<Map<string, string>> {
  const cli = join(modules, suite, 'dist/index.js')
  const results = mkdtempSync(join(tmpdir(), 'berth-conformance-'))
  const words = ['--url', ctx.url, '--spec-version', revision, '--suite', 'all', '-o', results]
  const child = Bun.spawn([node, cli, 'server', ...words], { stdout: 'pipe', timeout: 120_000 })
  const output = await child.stdout.text()
  rmSync(results, { recursive: true })
  const lines = output.matchAll(/^[✓✗] (\S+): (\d+ passed, \d+ failed)$/gm)
  return new Map(Array.from(lines, ([, scenario = '', counts = '']) => [scenario, counts]))
}

for (const { name, revision, scenarios } of suites) {
  describe(`${name}, ${revision}`, () => {
    let counts = new Map<string, string>()
    beforeAll(async () => {
      counts = await run(name, revision)
    }, 120_000)

    test.each(scenarios)('passes %s', (scenario) => {
      expect(counts.get(scenario)).toMatch(/^[1-9]\d* passed, 0 failed$/)
    })

    test('reports a scenario that fails', () => {
      expect(counts.get('completion-complete')).toEndWith(' 1 failed')
    })
  })
}
