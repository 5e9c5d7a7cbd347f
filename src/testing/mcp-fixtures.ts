import {
  type CallToolResult,
  inputRequired,
  type McpServer,
  type ServerContext,
} from '@modelcontextprotocol/server'

import type { Extension, ServedTool } from '../mcp/server.ts'

type Content = CallToolResult['content'][number]

const pixel =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const silence = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA='

const said = (text: string): Content => ({ type: 'text', text })
const image: Content = { type: 'image', data: pixel, mimeType: 'image/png' }
const resource = (uri: string, mimeType: string, text: string): Content => ({
  type: 'resource',
  resource: { uri, mimeType, text },
})

/** What each tool answers, by the names and the texts that the suite asks for. */
const contents: Record<string, Content[]> = {
  test_simple_text: [said('This is a simple text response for testing.')],
  test_image_content: [image],
  test_audio_content: [{ type: 'audio', data: silence, mimeType: 'audio/wav' }],
  test_embedded_resource: [
    resource('test://embedded-resource', 'text/plain', 'This is an embedded resource content.'),
  ],
  test_multiple_content_types: [
    said('Multiple content types test:'),
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
    await Bun.sleep(50)
  }
  return { content: [said('Logged.')] }
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
    await Bun.sleep(50)
  }
  return { content: [said('Done.')] }
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
    content: [said('This tool intentionally returns an error for testing')],
  })),
  fixture('json_schema_2020_12_tool', answering(said('Checked.')), schema2020),
  fixture('test_custom_header', answering(said('Seen.')), {
    type: 'object',
    properties: { region: { type: 'string', 'x-mcp-header': 'Region' } },
    required: ['region'],
  }),
  fixture('test_logging_tool', async ({ mcpReq }) => {
    await mcpReq.log('info', 'Called.')
    return { content: [said('Logged.')] }
  }),
  fixture('test_missing_capability', () =>
    inputRequired({ inputRequests: { told: inputRequired.createMessage(sampling) } }),
  ),
  fixture('test_streaming_elicitation', () =>
    inputRequired({ inputRequests: { name: inputRequired.elicit(question) } }),
  ),
]

/** Prompts and a resource, since the suite asks every server for their lists. */
function extend(server: McpServer): void {
  server.server.registerCapabilities({ logging: {} })
  server.registerPrompt('test_prompt', { description: 'A prompt.' }, () => ({
    messages: [{ role: 'user', content: { type: 'text', text: 'Ask.' } }],
  }))
  server.registerResource('static', 'test://static-text', { mimeType: 'text/plain' }, (uri) => ({
    contents: [{ uri: uri.href, mimeType: 'text/plain', text: 'A text.' }],
  }))
}

/** What the protocol's own conformance suite calls. Only its test serves it. */
export const fixtures: Extension = { tools, extend }
