/** The protocol's conformance suites with every scenario for tool servers, in both revisions. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import {
  type CallToolResult,
  inputRequired,
  type McpServer,
  type ServerContext,
} from '@modelcontextprotocol/server'

import type { Extension, ServedTool } from '../../server/mcp/server.ts'
import { folder, publishPack, skillText } from '../fixtures/folders.ts'
import { node, startMcpTestServer } from '../fixtures/mcp-server.ts'

type Content = CallToolResult['content'][number]

const pixel =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const silence = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA='

const textContent = (text: string): Content => ({ type: 'text', text })
const image: Content = { type: 'image', data: pixel, mimeType: 'image/png' }
const resource = (uri: string, mimeType: string, text: string): Content => ({
  type: 'resource',
  resource: { uri, mimeType, text },
})

/** Tools with the names and results that the conformance suite expects. */
const contents: Record<string, Content[]> = {
  test_simple_text: [textContent('This is a simple text response for testing.')],
  test_image_content: [image],
  test_audio_content: [{ type: 'audio', data: silence, mimeType: 'audio/wav' }],
  test_embedded_resource: [
    resource('test://embedded-resource', 'text/plain', 'This is an embedded resource content.'),
  ],
  test_multiple_content_types: [
    textContent('Multiple content types test:'),
    image,
    resource('test://mixed-content-resource', 'application/json', '{"test":"data","value":123}'),
  ],
}

const fixture = (
  name: string,
  call: (context: ServerContext) => ReturnType<ServedTool['call']>,
  inputSchema: ServedTool['definition']['inputSchema'] = { type: 'object' },
): ServedTool => ({
  definition: { name, description: 'Called by the conformance suite.', inputSchema },
  call: (_, context) => call(context),
})

const answering =
  (...content: Content[]) =>
  async (): Promise<CallToolResult> => ({ content })

async function logging({ mcpReq }: ServerContext): Promise<CallToolResult> {
  for (const text of ['execution started', 'processing data', 'execution completed']) {
    await mcpReq.notify({
      method: 'notifications/message',
      params: { level: 'info', data: `Tool ${text}` },
    })
  }
  return { content: [textContent('Logged.')] }
}

async function progressing({ mcpReq }: ServerContext): Promise<CallToolResult> {
  const progressToken = mcpReq._meta?.progressToken
  for (const progress of [0, 50, 100]) {
    if (progressToken !== undefined) {
      await mcpReq.notify({
        method: 'notifications/progress',
        params: { progressToken, progress, total: 100 },
      })
    }
  }
  return { content: [textContent('Done.')] }
}

const schema2020 = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object' as const,
  $defs: {
    address: {
      $anchor: 'addressDef',
      type: 'object',
      properties: { street: { type: 'string' }, city: { type: 'string' } },
    },
  },
  properties: {
    name: { type: 'string' },
    address: { $ref: '#/$defs/address' },
    contactMethod: { type: 'string', enum: ['phone', 'email'] },
    phone: { type: 'string' },
    email: { type: 'string' },
  },
  allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
  if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
  then: { required: ['phone'] },
  else: { required: ['email'] },
  additionalProperties: false,
}

const sampling = {
  messages: [{ role: 'user' as const, content: { type: 'text' as const, text: 'Say hello.' } }],
  maxTokens: 10,
}
const question = {
  message: 'What is your name?',
  requestedSchema: {
    type: 'object' as const,
    properties: { name: { type: 'string' as const } },
    required: ['name'],
  },
}

const tools: ServedTool[] = [
  ...Object.entries(contents).map(([name, content]) => fixture(name, answering(...content))),
  fixture('test_tool_with_logging', logging),
  fixture('test_tool_with_progress', progressing),
  fixture('test_error_handling', async () => ({
    isError: true,
    content: [textContent('This tool intentionally returns an error for testing')],
  })),
  fixture('json_schema_2020_12_tool', answering(textContent('Checked.')), schema2020),
  fixture('test_custom_header', answering(textContent('Seen.')), {
    type: 'object',
    properties: { region: { type: 'string', 'x-mcp-header': 'Region' } },
    required: ['region'],
  }),
  fixture('test_logging_tool', async ({ mcpReq }) => {
    await mcpReq.log('info', 'Called.')
    return { content: [textContent('Logged.')] }
  }),
  fixture('test_missing_capability', () =>
    inputRequired({ inputRequests: { reply: inputRequired.createMessage(sampling) } }),
  ),
  fixture('test_streaming_elicitation', () =>
    inputRequired({ inputRequests: { name: inputRequired.elicit(question) } }),
  ),
]

/** Adds prompts and a resource, because the suite lists them on every server. */
function extend(server: McpServer): void {
  server.server.registerCapabilities({ logging: {} })
  server.registerPrompt('test_prompt', { description: 'A prompt.' }, () => ({
    messages: [{ role: 'user', content: { type: 'text', text: 'Ask.' } }],
  }))
  server.registerResource('static', 'test://static-text', { mimeType: 'text/plain' }, (uri) => ({
    contents: [{ uri: uri.href, mimeType: 'text/plain', text: 'A text.' }],
  }))
}

/** The extension that the protocol's conformance suite calls. Only its test serves it. */
const fixtures: Extension = { tools, extend }

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

describe('the extension of skills (SEP-2640)', () => {
  const opened = startMcpTestServer()
  beforeAll(async () => {
    const ann = await (await opened).agent('ann')
    await publishPack(ann, { ...folder(), store: true })
    await publishPack(ann, { skill: skillText('plan'), store: true })
  })
  afterAll(async () => (await opened).close())

  test.each(['sep-2640-skills-enumeration', 'sep-2640-skills-manifest'])(
    'passes %s',
    async (scenario) => {
      const cli = join(modules, 'conformance-modern/dist/index.js')
      const results = mkdtempSync(join(tmpdir(), 'berth-conformance-'))
      const words = ['--url', (await opened).url, '--scenario', scenario, '-o', results]
      const child = Bun.spawn([node, cli, 'server', ...words], { stdout: 'pipe', timeout: 60_000 })
      const output = await child.stdout.text()
      rmSync(results, { recursive: true })
      expect(output).toMatch(/^Passed: (\d+)\/\1, 0 failed, 0 warnings$/m)
    },
    90_000,
  )
})
