import { afterAll, describe, expect, test } from 'bun:test'

import { createGatewayUser } from '../testing/fixtures/gateway.ts'
import { startTestServer } from '../testing/fixtures/test-server.ts'

const t = await startTestServer({ DEMO_MODELS: 'on', SEARCH_ON: 'off' })
const gus = await createGatewayUser(t, '1')
const poor = await createGatewayUser(t, '0.000001', '198.51.100.2')
afterAll(() => t.close())

const model = 'demo/chat'
const user = { role: 'user', content: 'Hello' }
const messages = [user]
const turn = [{ role: 'user', parts: [{ text: 'Hello' }] }]
const generate = '/v1beta/models/demo/chat:generateContent'
const schema = { type: 'object' }

/** Returns the message and the field of an error, in the envelope of any API. */
function errorOf(body: unknown): [message: string, param: unknown] {
  const { error, message, param } = Object(body)
  if (typeof message === 'string') return [message, param]
  const [detail] = error.details?.length ? error.details : []
  const field =
    error.param ?? error.details?.param ?? detail?.metadata?.field ?? error.metadata?.param
  return [error.message, field]
}

type Case = [path: string, body: object, param: string, text?: string]

/** A web search on a server without one, as each API asks for it. */
const searches: Case[] = [
  ['/v1/chat/completions', { messages, web_search: true }, 'web_search', 'Remove web_search.'],
  [
    '/v1/chat/completions',
    { messages, web_search_options: {} },
    'web_search_options',
    'Remove web_search_options.',
  ],
  [
    '/v1/chat/completions',
    { messages, plugins: [{ id: 'web' }] },
    'plugins',
    'Remove the search in plugins.',
  ],
  [
    '/v1/chat/completions',
    { messages, model: `${model}:online` },
    'model',
    'Remove the search in model.',
  ],
  ['/api/v1/chat/completions', { messages, web_search_options: {} }, 'web_search_options'],
  ['/v1/responses', { input: 'Hello', web_search: true }, 'web_search', 'Remove web_search.'],
  [
    '/v1/responses',
    { input: 'Hello', tools: [{ type: 'web_search' }], tool_choice: { type: 'web_search' } },
    'tools',
    'Remove the search in tools.',
  ],
  ['/v1/messages', { messages, max_tokens: 9, web_search: true }, 'web_search'],
  [
    '/v1/messages',
    { messages, max_tokens: 9, tools: [{ type: 'web_search_20250305', name: 'web_search' }] },
    'tools',
    'Remove the search in tools.',
  ],
  [
    generate,
    { contents: turn, tools: [{ googleSearch: {} }] },
    'tools',
    'Remove the search in tools.',
  ],
]

/** Fields that the API renames for the chat, with values that a chat rejects. */
const fields: Case[] = [
  [
    '/v1/chat/completions',
    { messages, max_completion_tokens: 0 },
    'max_completion_tokens',
    'max_completion_tokens must be',
  ],
  ['/v1/chat/completions', { messages, max_tokens: 0 }, 'max_tokens', 'max_tokens must be'],
  [
    '/v1/responses',
    { input: 'Hello', max_output_tokens: 0 },
    'max_output_tokens',
    'max_output_tokens must be',
  ],
  ['/v1/responses', { input: [] }, 'input'],
  ['/v1/responses', { input: 'Hello', text: { format: { type: 'x' } } }, 'text'],
  [
    generate,
    { contents: turn, generationConfig: { maxOutputTokens: 0 } },
    'generationConfig.maxOutputTokens',
    'generationConfig.maxOutputTokens must be',
  ],
  [generate, { contents: [] }, 'contents'],
  ['/v1/completions', { prompt: '' }, 'prompt'],
  ['/v2/chat', { messages, max_tokens: 0 }, 'max_tokens'],
]

describe.each([...searches, ...fields])('%s %j', (path, body, param, text = '') => {
  test('is rejected with the name of its field', async () => {
    const { status, body: sent } = await gus.call('POST', path, {
      ...(path !== generate && { model }),
      ...body,
    })
    const [message, field] = errorOf(sent)
    expect([status, field]).toEqual([400, param])
    expect(message).toContain(text)
    if (param !== 'web_search') expect(message).not.toContain('web_search.')
  })
})

/** Requests that cost too much, and the field of each API that lowers the cost. */
const limits: Case[] = [
  ['/v1/chat/completions', { messages }, 'max_tokens'],
  ['/v1/chat/completions', { messages, max_completion_tokens: 100_000 }, 'max_completion_tokens'],
  ['/v1/responses', { input: 'Hello' }, 'max_output_tokens'],
  ['/v1/messages', { messages, max_tokens: 100_000 }, 'max_tokens'],
  [generate, { contents: turn }, 'generationConfig.maxOutputTokens'],
]

test.each(limits)('%s %j names the field that lowers the cost', async (path, body, field) => {
  const { status, body: sent } = await poor.call('POST', path, {
    ...(path !== generate && { model }),
    ...body,
  })
  expect([status, errorOf(sent)[0]]).toEqual([402, expect.stringContaining(`lower ${field}.`)])
})

test('a message keeps words that are not fields', async () => {
  const json = { type: 'json_schema', name: 'a', schema }
  const body = { model: 'none/none', input: 'Hello', text: { format: json } }
  const { body: sent } = await gus.call('POST', '/v1/responses', body)
  expect(errorOf(sent)).toEqual([
    expect.stringContaining('The model none/none does not exist.'),
    'model',
  ])
})
