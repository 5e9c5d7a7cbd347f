import { afterAll, describe, expect, test } from 'bun:test'

import type { AiSdkKind } from '../../../kernel/config/providers.ts'
import { systemClock } from '../../../kernel/time.ts'
import { fakeImage } from '../../../testing/fakes/media-scripts.ts'
import { createAiSdkAdapter } from './adapter.ts'

/** A fake provider that records its requests. */
const seen: { path: string; body: Record<string, unknown> }[] = []
const server = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  async fetch(request) {
    const body = Object(await request.json())
    seen.push({ path: new URL(request.url).pathname, body })
    return Response.json({ error: { type: 'none', message: 'None.' } }, { status: 400 })
  },
})
afterAll(() => server.stop(true))

/** Returns the body that a provider of this kind receives for an OpenAI request. */
async function sentTo(
  kind: AiSdkKind,
  model: string,
  body: Record<string, unknown>,
): Promise<Record<string, unknown>> {
  const to = { name: 'one', kind, baseUrl: `http://127.0.0.1:${server.port}`, apiKey: 'k' }
  const { status } = await createAiSdkAdapter(to, systemClock).send({
    path: '/chat/completions',
    model,
    body,
    signal: AbortSignal.timeout(5_000),
  })
  expect(status).toBe(400)
  return seen.at(-1)?.body ?? {}
}

const claude = (body: Record<string, unknown>, model = 'claude-haiku-4-5') =>
  sentTo('anthropic', model, { max_tokens: 100, ...body })
const gemini = (body: Record<string, unknown>, model = 'gemini-3-pro-preview') =>
  sentTo('google', model, body)

const hello = [{ role: 'user', content: 'hello' }]
const call = (more: Record<string, unknown> = {}) => ({
  id: 'call_1',
  type: 'function',
  function: { name: 'look', arguments: '{"at":1}' },
  ...more,
})
const tools = [{ type: 'function', function: { name: 'look', parameters: { type: 'object' } } }]

describe('messages', () => {
  test('moves system messages to the front', async () => {
    const { system, messages } = await claude({
      messages: [
        { role: 'system', content: 'One.' },
        ...hello,
        { role: 'assistant', content: 'Yes?' },
        { role: 'system', content: [{ type: 'text', text: 'Two.' }] },
        { role: 'user', content: 'go on' },
      ],
    })
    expect(JSON.stringify(system)).toMatch(/One\..*Two\./)
    expect(messages).toMatchObject([{ role: 'user' }, { role: 'assistant' }, { role: 'user' }])
  })

  test('converts images, files, audio and video, inline and by URL', async () => {
    const url = `data:image/png;base64,${fakeImage}`
    const pdf = 'data:application/pdf;base64,JVBERi0='
    const content = [
      { type: 'text', text: 'Look.', cache_control: { type: 'ephemeral' } },
      { type: 'image_url', image_url: { url } },
      { type: 'image_url', image_url: { url: 'https://example.com/a.png' } },
      { type: 'file', file: { filename: 'a.pdf', file_data: pdf } },
    ]
    const { messages } = await claude({ messages: [{ role: 'user', content }] })
    expect(messages).toMatchObject([
      {
        content: [
          { type: 'text', text: 'Look.', cache_control: { type: 'ephemeral' } },
          { type: 'image', source: { media_type: 'image/png', data: fakeImage } },
          { type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } },
          { type: 'document', source: { media_type: 'application/pdf', data: 'JVBERi0=' } },
        ],
      },
    ])
    const more = [
      { type: 'input_audio', input_audio: { data: 'UklGRg==', format: 'wav' } },
      { type: 'video_url', video_url: { url: 'https://youtu.be/abc' } },
    ]
    const { contents } = await gemini({ messages: [{ role: 'user', content: more }] })
    expect(contents).toMatchObject([
      {
        parts: [
          { inlineData: { mimeType: 'audio/wav', data: 'UklGRg==' } },
          { fileData: { fileUri: 'https://youtu.be/abc' } },
        ],
      },
    ])
  })

  test('detects an image type by URL and by bytes', async () => {
    const urls = [
      'https://example.com/a.PNG?size=2',
      'https://example.com/a',
      `DATA:image/png;BASE64,${fakeImage}`,
      `data:image/*;base64,${fakeImage}`,
    ]
    const content = urls.map((url) => ({ type: 'image_url', image_url: { url } }))
    const { contents } = await gemini({ messages: [{ role: 'user', content }] })
    const bytes = { inlineData: { mimeType: 'image/png', data: fakeImage } }
    expect(contents).toMatchObject([
      {
        parts: [
          { fileData: { mimeType: 'image/png', fileUri: urls[0] } },
          { fileData: { mimeType: 'image/jpeg', fileUri: urls[1] } },
          bytes,
          bytes,
        ],
      },
    ])
  })

  test('keeps ids, names and signatures of tool calls and results', async () => {
    const calls = [call(), call({ id: 'call_2' })]
    const responses = calls.map(({ id }) => ({
      role: 'tool',
      tool_call_id: id,
      content: `of ${id}`,
    }))
    const requests = { role: 'assistant', content: null, tool_calls: calls }
    const { messages } = await claude({ tools, messages: [...hello, requests, ...responses] })
    expect(messages).toMatchObject([
      { role: 'user' },
      { content: [{ type: 'tool_use', id: 'call_1', name: 'look', input: { at: 1 } }, {}] },
      { content: [{ tool_use_id: 'call_1' }, { tool_use_id: 'call_2' }] },
    ])
    const signed = call({ extra_content: { google: { thought_signature: 'c2ln' } } })
    const turn = { role: 'assistant', content: null, tool_calls: [signed] }
    const { contents } = await gemini({ tools, messages: [...hello, turn, responses[0]] })
    expect(contents).toMatchObject([
      {},
      { parts: [{ functionCall: { name: 'look', args: { at: 1 } }, thoughtSignature: 'c2ln' }] },
      { parts: [{ functionResponse: { name: 'look' } }] },
    ])
  })
})

describe('thinking', () => {
  const response = { role: 'tool', tool_call_id: 'call_1', content: 'seen' }
  const turn = { role: 'assistant', content: null, tool_calls: [call()] }
  const asks = { tools, reasoning_effort: 'low', max_tokens: 9_000 }

  test('counts reasoning tokens within the requested limit', async () => {
    const sent = await claude({ messages: hello, reasoning_effort: 'high', max_tokens: 9_000 })
    expect(sent).toMatchObject({ max_tokens: 9_000, thinking: { budget_tokens: 7_200 } })
    const few = await claude({ messages: hello, reasoning_effort: 'high', max_tokens: 500 })
    expect([few.max_tokens, few.thinking]).toEqual([500, undefined])
  })

  test('sends signed reasoning back, and disables reasoning without it', async () => {
    const details = [{ type: 'reasoning.text', text: 'Hm.', signature: 'c2ln' }]
    const messages = [...hello, { ...turn, reasoning_details: details }, response]
    const signed = await claude({ ...asks, messages })
    expect(signed.thinking).toBeDefined()
    expect(signed.messages).toMatchObject([
      {},
      { content: [{ type: 'thinking', thinking: 'Hm.', signature: 'c2ln' }, { type: 'tool_use' }] },
      {},
    ])
    const unsigned = await claude({ ...asks, messages: [...hello, turn, response] })
    expect(unsigned.thinking).toBeUndefined()
  })
})

describe('settings', () => {
  test('converts numbers, stop sequences and the tool choice', async () => {
    const { body } = { body: { messages: hello, tools, temperature: 0.5, stop: ['END'] } }
    const choice = { type: 'function', function: { name: 'look' } }
    const sent = await claude({ ...body, tool_choice: choice, parallel_tool_calls: false })
    expect(sent).toMatchObject({
      model: 'claude-haiku-4-5',
      max_tokens: 100,
      temperature: 0.5,
      stop_sequences: ['END'],
      tools: [{ name: 'look', input_schema: { type: 'object' } }],
      tool_choice: { type: 'tool', name: 'look', disable_parallel_tool_use: true },
    })
    const required = await gemini({ ...body, tool_choice: 'required', max_completion_tokens: 50 })
    expect(required).toMatchObject({
      toolConfig: { functionCallingConfig: { mode: 'ANY' } },
      generationConfig: { maxOutputTokens: 50, stopSequences: ['END'] },
    })
    const numbers = { top_p: 0.1, top_k: 2, presence_penalty: 0.3, frequency_penalty: 0.4, seed: 5 }
    expect(await gemini({ messages: hello, ...numbers })).toMatchObject({
      generationConfig: {
        topP: 0.1,
        topK: 2,
        presencePenalty: 0.3,
        frequencyPenalty: 0.4,
        seed: 5,
      },
    })
  })

  test('requests structured output by its schema', async () => {
    const schema = { type: 'object', properties: { city: { type: 'string' } } }
    const response_format = { type: 'json_schema', json_schema: { name: 'place', schema } }
    const { generationConfig } = await gemini({ messages: hello, response_format })
    expect(JSON.stringify(generationConfig)).toContain('city')
    const sent = await claude({ messages: hello, response_format })
    expect(JSON.stringify(sent.output_config ?? sent.output_format)).toContain('city')
  })
})
