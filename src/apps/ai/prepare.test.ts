import { afterEach, expect, test } from 'bun:test'

import { readPrice } from '../../gateway/models/price.ts'
import { fakePrice, startFakeUpstreamServer } from '../../testing/fixtures/fake-upstream-server.ts'
import { testModel } from '../../testing/fixtures/models.ts'
import { createTestPerson, createTestSession } from '../../testing/fixtures/people.ts'
import {
  startTestServer,
  type TestResponse,
  type TestServer,
} from '../../testing/fixtures/test-server.ts'

const html = `<!doctype html><title>Oracle</title><script>service.ai.chat('Hello')</script>`

let t: TestServer
afterEach(() => t.close())

/** Publishes an app. Returns what calls its models as a player who agreed. */
async function openApp(): Promise<(path: string, body: object) => Promise<TestResponse>> {
  const id = await (await t.agent('ann')).publish({ html })
  const { cookie } = await createTestSession(t, await createTestPerson(t, 'olga', 1n))
  const headers = { cookie, 'sec-fetch-site': 'same-origin' }
  const consent = { uses: ['ai'], dailyCap: 300, remember: false }
  await t.request('PUT', `/api/apps/${id}/consent`, { headers, body: consent })
  return (path, body) => t.request('POST', `/a/${id}/ai/${path}`, { headers, body })
}

const question = { role: 'user', content: 'Tell me of the sea' }
const turn = { messages: [question] }

test('servers of others and stored responses are left out of a call', async () => {
  t = await startTestServer()
  const send = await openApp()
  const mcp_servers = [{ type: 'url', url: 'https://mcp.example/sse', name: 'tasks' }]
  const message = { model: 'claude-sonnet-4', max_tokens: 99, mcp_servers, ...turn }
  const reply = await send('v1/messages', message)
  expect(reply.text('content.0.text')).toContain('Tell me of the sea')
  const input = [
    { type: 'item_reference', id: 'msg_1' },
    { id: 'msg_2' },
    { role: 'user', content: 'And now?' },
  ]
  const tools = [{ type: 'mcp', server_label: 'x', server_url: 'https://mcp.example' }]
  const next = { input, tools, previous_response_id: 'resp_1', store: true }
  const response = await send('v1/responses', next)
  expect(response.body).toMatchObject({ store: false, previous_response_id: null, tools: [] })
})

const textDocument = {
  type: 'document',
  source: { type: 'text', media_type: 'text/plain', data: 'https://sea.test/ has more.' },
}
const place = { city: { type: 'string' } }
const find = { name: 'find', input_schema: { type: 'object', properties: place } }

test.each([
  [
    'v1/messages',
    {
      model: 'claude-sonnet-4',
      tools: [
        {
          type: 'web_search_20250305',
          name: 'web_search',
          max_uses: 1,
          allowed_domains: ['a.test'],
        },
        { type: 'code_execution_20250825', name: 'code_execution' },
        { type: 'mcp_toolset', mcp_server_name: 'tasks' },
      ],
      tool_choice: { type: 'tool', name: 'code_execution' },
      ...turn,
    },
  ],
  [
    'v1/messages',
    {
      model: 'claude-sonnet-4',
      tools: [find],
      messages: [
        question,
        {
          role: 'assistant',
          content: [
            { type: 'tool_use', id: 't1', name: 'find', input: { url: 'https://sea.test' } },
          ],
        },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't1', content: 'Deep' }] },
        { role: 'user', content: [textDocument] },
      ],
    },
  ],
  [
    'v1/chat/completions',
    {
      model: 'gpt-4o-search-preview',
      web_search_options: { search_context_size: 'low' },
      service_tier: 'priority',
      tools: [{ type: 'web_search' }],
      tool_choice: 'auto',
      ...turn,
    },
  ],
  [
    'v1/responses',
    {
      model: 'gpt-5',
      input: 'Tell me of the sea',
      tools: [{ type: 'image_generation' }, { type: 'file_search', vector_store_ids: ['a'] }],
      tool_choice: { type: 'image_generation' },
    },
  ],
  [
    'v1beta/models/gemini-2.5-flash:generateContent',
    {
      contents: [{ parts: [{ text: 'Tell me of the sea' }] }],
      tools: [{ google_search: {} }, { url_context: {} }, { codeExecution: {} }],
      tool_config: { function_calling_config: { mode: 'AUTO' } },
      system_instruction: { parts: { text: 'Be short.' } },
      generation_config: { media_resolution: 'MEDIA_RESOLUTION_LOW', temperature: 1 },
    },
  ],
  [
    'v1beta/models/gemini-2.5-flash:generateContent',
    {
      contents: [
        { role: 'user', parts: [{ text: 'Tell me of the sea' }] },
        {
          role: 'model',
          parts: [{ functionCall: { name: 'find', args: { url: 'https://sea.test' } } }],
        },
        {
          role: 'user',
          parts: [{ function_response: { name: 'find', response: { url: 'https://sea.test' } } }],
        },
      ],
    },
  ],
])('hosted tools are left out of %s where this server has no search', async (path, body) => {
  t = await startTestServer({ SEARCH_ON: 'off' })
  const send = await openApp()
  expect((await send(path, body)).status).toBe(200)
})

test('a model that reasons gets no sampling that a page tuned for another one', async () => {
  const id = 'openai/gpt-5-mini'
  const price = readPrice(fakePrice)
  if ('error' in price) throw new Error(price.error)
  const offers = [{ upstream: 'ok', model: 'ok', price }]
  const fake = await startFakeUpstreamServer({ APP_MODEL: id }, [
    testModel(fakePrice, { id, offers }),
  ])
  t = fake
  const send = await openApp()
  const sampling = { temperature: 0.7, top_p: 0.9, presence_penalty: 0.1 }
  for (const model of ['gpt-4o', id])
    expect((await send('v1/chat/completions', { ...turn, model, ...sampling })).status).toBe(200)
  const contents = [{ parts: [{ text: 'Tell me of the sea' }] }]
  const generation = { contents, generationConfig: { temperature: 0.7, topP: 0.9 } }
  const path = 'v1beta/models/gemini-2.5-flash:generateContent'
  expect((await send(path, generation)).status).toBe(200)
  expect(fake.fake.received.map(({ body }) => body['temperature'])).toEqual([
    undefined,
    0.7,
    undefined,
  ])
})

test('a hosted search of a page is that of this server, and its pages may be sent again', async () => {
  t = await startTestServer()
  const send = await openApp()
  const options = { max_uses: 1, allowed_domains: ['a.test'] }
  const tools = [{ type: 'web_search_20250305', name: 'web_search', ...options }]
  const ask = { model: 'claude-sonnet-4', max_tokens: 500, tools }
  const found = await send('v1/messages', { ...ask, messages: [question] })
  const { content } = Object(found.body)
  expect(content[0].citations[0].url).toStartWith('https://')
  const messages = [question, { role: 'assistant', content }, { role: 'user', content: 'More' }]
  expect((await send('v1/messages', { ...ask, messages })).status).toBe(200)
  const contents = [{ parts: [{ text: 'Tell me of the sea' }] }]
  const path = 'v1beta/models/gemini-2.5-flash:generateContent'
  const grounded = await send(path, { contents, tools: [{ google_search: {} }] })
  expect(grounded.status).toBe(200)
})
