import { afterAll, beforeAll, describe, expect, test } from 'bun:test'

import Anthropic from '@anthropic-ai/sdk'
import { LLMock } from '@copilotkit/aimock'

import type { GatewayUser } from '../fixtures/gateway.ts'
import { type ProviderServer, startWithProviders } from '../fixtures/with-providers.ts'

const mock = new LLMock({ port: 0 })
const usage = { input_tokens: 11, output_tokens: 7 }
const kinds = [
  { id: 'claude/small', kind: 'anthropic', base: '/v1', model: 'claude-haiku-4-5' },
  { id: 'gemini/small', kind: 'google', base: '/v1beta', model: 'gemini-2.5-flash' },
  { id: 'cohere/small', kind: 'cohere', base: '/v2', model: 'command-r-08-2024' },
  { id: 'gpt/small', kind: 'openai', base: '/v1', model: 'gpt-4.1-mini' },
]

let server: ProviderServer
let gus: GatewayUser
beforeAll(async () => {
  mock.on(
    { userMessage: 'weather', hasToolResult: false },
    { toolCalls: [{ name: 'get_weather', arguments: '{"city":"Köln"}' }] },
  )
  mock.on({ userMessage: 'weather', hasToolResult: true }, { content: 'It rains.', usage })
  await mock.start()
  server = await startWithProviders(
    kinds.map(({ base, ...model }) => ({ ...model, baseUrl: mock.url + base })),
  )
  gus = await server.gus('5')
})
afterAll(async () => {
  await server.close()
  await mock.stop()
})

const tools = [
  {
    name: 'get_weather',
    description: 'The weather of a city.',
    input_schema: { type: 'object' as const, properties: { city: { type: 'string' } } },
  },
]

describe('@anthropic-ai/sdk: a tool round trip', () => {
  for (const { id, kind } of kinds) {
    test.each([['plain'], ['streamed']])(`${kind}, %s`, async (form) => {
      const client = new Anthropic({ baseURL: server.origin, apiKey: gus.key, maxRetries: 0 })
      const send = (body: Anthropic.MessageCreateParamsNonStreaming) =>
        form === 'streamed'
          ? client.messages.stream(body).finalMessage()
          : client.messages.create(body)
      const question: Anthropic.MessageParam = { role: 'user', content: 'weather' }
      const request = { model: id, max_tokens: 100, tools, messages: [question] }
      const called = await send(request)
      expect(called.stop_reason).toBe('tool_use')
      const call = called.content.find((block) => block.type === 'tool_use')
      expect(call).toMatchObject({ name: 'get_weather', input: { city: 'Köln' } })
      const messages: Anthropic.MessageParam[] = [
        question,
        { role: 'assistant', content: called.content },
        {
          role: 'user',
          content: [{ type: 'tool_result', tool_use_id: call?.id ?? '', content: 'Rain.' }],
        },
      ]
      const answer = await send({ ...request, messages })
      expect(answer.content).toMatchObject([{ type: 'text', text: 'It rains.' }])
      expect(answer.stop_reason).toBe('end_turn')
      const { charged } = await server.lastUse(gus)
      expect(charged).toBeGreaterThan(0n)
      expect(await server.findProblems()).toEqual([])
    })
  }
})
