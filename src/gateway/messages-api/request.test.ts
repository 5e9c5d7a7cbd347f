import { describe, expect, test } from 'bun:test'

import { ApiError } from '../../kernel/errors.ts'
import { parseMessagesRequest } from './request.ts'

const cached = { cache_control: { type: 'ephemeral' } }
const hello = { role: 'user', content: 'Hello' }
const basic = { model: 'a/b', max_tokens: 100, messages: [hello] }
const chatOf = (body: object) => parseMessagesRequest({ ...basic, ...body }).chat

const messagesOf = (...messages: object[]): unknown => chatOf({ messages }).messages

function problemOf(body: object): unknown {
  try {
    parseMessagesRequest({ ...basic, ...body })
  } catch (error) {
    if (error instanceof ApiError) return Object(error.details[0])
    throw error
  }
  return undefined
}

const png = { type: 'base64', media_type: 'image/png', data: 'AAAA' }
const claudeCodeRequest = {
  model: 'demo/chat',
  max_tokens: 32_000,
  stream: true,
  system: [
    { type: 'text', text: 'You are an agent.' },
    { type: 'text', text: 'Be brief.', ...cached },
  ],
  messages: [
    { role: 'user', content: [{ type: 'text', text: 'Read it.', ...cached }] },
    {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'Hm.', signature: 'signed' },
        { type: 'thinking', thinking: 'Unsigned.', signature: '' },
        { type: 'redacted_thinking', data: 'secret' },
        { type: 'text', text: 'Reading.' },
        { type: 'tool_use', id: 'call_1', name: 'Read', input: { path: 'a.png' } },
        { type: 'tool_use', id: 'call_2', name: 'Read', input: {} },
      ],
    },
    {
      role: 'user',
      content: [
        {
          type: 'tool_result',
          tool_use_id: 'call_1',
          content: [
            { type: 'text', text: 'An image.' },
            { type: 'image', source: png },
          ],
          ...cached,
        },
        { type: 'tool_result', tool_use_id: 'call_2', content: 'No such file.', is_error: true },
        { type: 'text', text: 'Go on.' },
      ],
    },
    { role: 'system', content: 'Agents: none.' },
  ],
  tools: [{ name: 'Read', description: 'Reads.', input_schema: { type: 'object' }, ...cached }],
  tool_choice: { type: 'any', disable_parallel_tool_use: true },
  thinking: { type: 'adaptive' },
  context_management: { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] },
  output_config: { effort: 'high' },
  metadata: { user_id: 'one' },
  stop_sequences: ['END'],
  temperature: 1,
  top_k: 5,
}

const claudeCodeChat = {
  model: 'demo/chat',
  max_tokens: 32_000,
  stream: true,
  stream_options: { include_usage: true },
  temperature: 1,
  top_k: 5,
  stop: ['END'],
  messages: [
    { role: 'system', content: 'You are an agent.\n\nBe brief.\n\nAgents: none.' },
    { role: 'user', content: 'Read it.' },
    {
      role: 'assistant',
      content: 'Reading.',
      reasoning_details: [
        { type: 'reasoning.text', text: 'Hm.', signature: 'signed' },
        { type: 'reasoning.encrypted', data: 'secret' },
      ],
      tool_calls: [
        {
          id: 'call_1',
          type: 'function',
          function: { name: 'Read', arguments: '{"path":"a.png"}' },
        },
        { id: 'call_2', type: 'function', function: { name: 'Read', arguments: '{}' } },
      ],
    },
    {
      role: 'tool',
      tool_call_id: 'call_1',
      content: 'An image.\n\nThe media of this result are in the next message.',
    },
    { role: 'tool', tool_call_id: 'call_2', content: 'Error: No such file.' },
    {
      role: 'user',
      content: [
        { type: 'text', text: 'Media of the result of call_1:' },
        { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
        { type: 'text', text: 'Go on.' },
      ],
    },
  ],
  tools: [
    {
      type: 'function',
      function: { name: 'Read', description: 'Reads.', parameters: { type: 'object' } },
    },
  ],
  tool_choice: 'required',
  parallel_tool_calls: false,
}

test('a request of Claude Code becomes a chat request', () => {
  const { chat, isStream } = parseMessagesRequest(claudeCodeRequest)
  expect(isStream).toBe(true)
  expect(chat).toEqual(claudeCodeChat)
})

test('documents and images from every source become parts', () => {
  const url = 'https://files.test/a'
  const content = [
    { type: 'image', source: { type: 'url', url } },
    { type: 'image', source: { type: 'file', file_id: 'file-1' } },
    { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERi' } },
    { type: 'document', title: 'a.pdf', source: { type: 'url', url } },
    { type: 'document', source: { type: 'file', file_id: 'file-2' } },
    { type: 'document', title: 'a.txt', context: 'Old.', source: { type: 'text', data: 'Words.' } },
    { type: 'document', source: { type: 'content', content: 'Blocks.' } },
    { type: 'search_result', title: 'T', source: url, content: [{ type: 'text', text: 'Found.' }] },
  ]
  expect(messagesOf({ role: 'user', content })).toEqual([
    {
      role: 'user',
      content: [
        { type: 'image_url', image_url: { url } },
        { type: 'image_url', file_id: 'file-1' },
        {
          type: 'file',
          file: { filename: 'document.pdf', file_data: 'data:application/pdf;base64,JVBERi' },
        },
        { type: 'file', file: { filename: 'a.pdf', file_data: url } },
        { type: 'file', file: { file_id: 'file-2' } },
        { type: 'text', text: 'Old.' },
        { type: 'text', text: 'File "a.txt":\nWords.' },
        { type: 'text', text: 'Blocks.' },
        { type: 'text', text: `T\n${url}\nFound.` },
      ],
    },
  ])
})

test('tool choices, reasoning and formats become those of the chat', () => {
  const tools = [{ name: 'Read', input_schema: {}, strict: true, input_examples: [{ a: 1 }] }]
  const choose = (tool_choice: object) => chatOf({ tools, tool_choice }).tool_choice
  expect(choose({ type: 'auto' })).toBe('auto')
  expect(choose({ type: 'none' })).toBe('none')
  const named = { type: 'function', function: { name: 'Read' } }
  expect(choose({ type: 'tool', name: 'Read' })).toEqual(named)
  expect(chatOf({ tools }).tools).toMatchObject([
    { function: { strict: true, description: '\nExample: {"a":1}' } },
  ])
  const search = { type: 'web_search_20250305', name: 'web_search', max_uses: 8 }
  expect(chatOf({ tools: [search] })).toMatchObject({ web_search: true })
  const effort = (body: object) => chatOf(body).reasoning_effort
  const budget = (budget_tokens: number) => effort({ thinking: { type: 'enabled', budget_tokens } })
  expect([budget(1_024), budget(10_000), budget(31_999)]).toEqual(['low', 'medium', 'high'])
  expect(effort({ thinking: { type: 'disabled' } })).toBeUndefined()
  expect(effort({ output_config: { effort: 'low' } })).toBe('low')
  const schema = {
    type: 'object',
    properties: { a: { type: 'string' } },
    required: ['a'],
    additionalProperties: false,
  }
  const format = (own: object) =>
    chatOf({ output_config: { format: { type: 'json_schema', schema: own } } }).response_format
  const json_schema = { name: 'output', schema, strict: true }
  expect(format(schema)).toEqual({ type: 'json_schema', json_schema })
  expect(format({ ...schema, required: [] })).not.toHaveProperty('json_schema.strict')
})

describe('a field without an equivalent is named', () => {
  const user = (...content: object[]) => ({ messages: [{ role: 'user', content }] })
  const pdf = { type: 'text', data: 'x' }
  test.each<[string, object, string]>([
    ['container', { container: 'c' }, 'container'],
    ['mcp_servers', { mcp_servers: [{}] }, 'mcp_servers'],
    ['inference_geo', { inference_geo: 'us' }, 'inference_geo'],
    ['any other', { unheard_of: 1 }, 'unheard_of'],
    ['thread', { thread: { type: 'create' } }, 'thread'],
    ['stream', { stream: 'yes' }, 'stream'],
    ['max_tokens', { max_tokens: 0 }, 'max_tokens'],
    ['thinking', { thinking: { type: 'enabled' } }, 'thinking'],
    ['task_budget', { output_config: { task_budget: {} } }, 'output_config'],
    ['format', { output_config: { format: { type: 'grammar' } } }, 'output_config'],
    ['edits', { context_management: { edits: [{ type: 'compact_1' }] } }, 'context_management'],
    ['system', { system: 7 }, 'system'],
    [
      'an image in system',
      { system: [{ type: 'image', source: { type: 'url', url: 'x' } }] },
      'system',
    ],
    ['a tool of Anthropic', { tools: [{ type: 'bash_20250124', name: 'bash' }] }, 'tools'],
    ['domains', { tools: [{ type: 'web_search_1', allowed_domains: ['a'] }] }, 'tools'],
    ['few searches', { tools: [{ type: 'web_search_1', max_uses: 1 }] }, 'tools'],
    ['a choice without tools', { tool_choice: { type: 'any' } }, 'tool_choice'],
    ['an unknown choice', { tool_choice: { type: 'some' } }, 'tool_choice'],
    ['a role', { messages: [{ role: 'tool', content: 'x' }] }, 'messages'],
    ['a block', user({ type: 'server_tool_use' }), 'messages'],
    [
      'citations',
      user({ type: 'document', source: pdf, citations: { enabled: true } }),
      'messages',
    ],
    ['an unknown call', user({ type: 'tool_result', tool_use_id: 'x' }), 'messages'],
    ['no content', { messages: [{ role: 'user' }] }, 'messages'],
    ['no object', { messages: [7] }, 'messages'],
  ])('%s', (_, body, param) => {
    expect(problemOf(body)).toMatchObject({ param, problem: expect.any(String) })
  })
})
