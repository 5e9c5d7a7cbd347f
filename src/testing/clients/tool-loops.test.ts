import { afterAll, expect, test } from 'bun:test'

import Anthropic from '@anthropic-ai/sdk'
import { GoogleGenAI, type Part as GooglePart } from '@google/genai'
import Groq from 'groq-sdk'
import OpenAI from 'openai'

import type { ChatRequest, Part } from '../../gateway/conversation/chat-request.ts'
import { isRecord, type Json, recordOf } from '../../kernel/schema.ts'
import { apis } from '../conversations/apis.ts'
import { startThinkers, thinkers } from './thinkers.ts'

/**
 * SDKs in a loop of two calls at a time, whose results have an image and marks of the cache, with
 * a model of each kind of upstream that thinks before.
 */

const png =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=='

/** The ids of the two calls, in the form of each model. */
const callIds: Record<string, [string, string]> = {
  'deep-thinker': ['functions.look:0', 'functions.look:1'],
  'gpt-5.5': ['call_one', 'call_two'],
  'claude-opus-4-5': ['toolu_1', 'toolu_2'],
  'gemini-3-pro': ['g1', 'g2'],
  'command-a-reasoning': ['look_1', 'look_2'],
}

/** Calls the tool twice; says what it saw once it has the results. */
const { gateway, requests, stop } = await startThinkers((model, sent) => {
  if (sent.includes('saw two')) {
    return { isOver: true, content: [{ type: 'text', text: 'I saw both.' }] }
  }
  const [first = '', second = ''] = callIds[model] ?? []
  const call = { type: 'call', name: 'look' } as const
  const { callSignature: signature } = thinkers[model] ?? {}
  const signed = { ...call, id: first, arguments: '{"at":1}', ...(signature && { signature }) }
  return { isOver: false, content: [signed, { ...call, id: second, arguments: '{"at":2}' }] }
})
afterAll(stop)
const [v1 = '', origin = ''] = gateway.baseUrls
const { key } = gateway

const parameters = {
  type: 'object' as const,
  properties: { at: { type: 'number' } },
  required: ['at'],
}
const description = 'Looks at a place.'
const mark = { cache_control: { type: 'ephemeral' as const } }
const wordOf = (args: unknown): string =>
  Number(recordOf(typeof args === 'string' ? JSON.parse(args) : args).at) === 1
    ? 'saw one'
    : 'saw two'

/** A loop of an SDK. Returns the last text. */
type Loop = (model: string, isStream: boolean) => Promise<string>

async function chatLoop(client: OpenAI, model: string, isStream: boolean): Promise<string> {
  const tools = [{ type: 'function' as const, function: { name: 'look', description, parameters } }]
  const messages: OpenAI.ChatCompletionMessageParam[] = [
    {
      role: 'system',
      content: [Object.assign({ type: 'text' as const, text: 'Be brief.' }, mark)],
    },
    { role: 'user', content: 'Look at both.' },
  ]
  for (;;) {
    const request = { model, messages, tools, max_tokens: 500 }
    const completion = isStream
      ? await client.chat.completions.stream(request).finalChatCompletion()
      : await client.chat.completions.create(request)
    const message = completion.choices[0]?.message
    if (!message?.tool_calls?.length) return message?.content ?? ''
    messages.push(message)
    for (const call of message.tool_calls) {
      if (call.type !== 'function') continue
      const text = { type: 'text' as const, text: wordOf(call.function.arguments) }
      const image = { type: 'image_url', image_url: { url: `data:image/png;base64,${png}` } }
      const content = [text, ...(text.text === 'saw one' ? [image] : [])]
      messages.push(
        Object.assign({ role: 'tool' as const, tool_call_id: call.id, content: '' }, { content }),
      )
    }
  }
}

const loops: Record<string, Loop> = {
  openai: (model, isStream) => chatLoop(new OpenAI({ baseURL: v1, apiKey: key }), model, isStream),
  'openai at /api/v1': (model, isStream) =>
    chatLoop(new OpenAI({ baseURL: `${origin}/api/v1`, apiKey: key }), model, isStream),
  async 'openai, responses'(model, isStream) {
    const client = new OpenAI({ baseURL: v1, apiKey: key })
    const tools = [
      { type: 'function' as const, name: 'look', description, parameters, strict: false },
    ]
    const input: OpenAI.Responses.ResponseInput = [{ role: 'user', content: 'Look at both.' }]
    for (;;) {
      const request = {
        model,
        input,
        tools,
        store: false,
        instructions: 'Be brief.',
        reasoning: { effort: 'low' as const, summary: 'auto' as const },
        include: ['reasoning.encrypted_content' as const],
      }
      const response = isStream
        ? await client.responses.stream(request).finalResponse()
        : await client.responses.create(request)
      const calls = response.output.flatMap((item) => (item.type === 'function_call' ? [item] : []))
      if (calls.length === 0) return response.output_text
      input.push(...JSON.parse(JSON.stringify(response.output)))
      for (const call of calls) {
        const text = wordOf(call.arguments)
        const image = {
          type: 'input_image' as const,
          image_url: `data:image/png;base64,${png}`,
          detail: 'auto' as const,
        }
        const output = [
          { type: 'input_text' as const, text },
          ...(text === 'saw one' ? [image] : []),
        ]
        input.push({ type: 'function_call_output', call_id: call.call_id, output })
      }
    }
  },
  async '@anthropic-ai/sdk'(model, isStream) {
    const client = new Anthropic({ baseURL: origin, apiKey: key })
    const tools = [{ name: 'look', description, input_schema: parameters, ...mark }]
    const messages: Anthropic.MessageParam[] = [{ role: 'user', content: 'Look at both.' }]
    for (;;) {
      const request = {
        model,
        messages,
        tools,
        max_tokens: 4_000,
        thinking: { type: 'enabled' as const, budget_tokens: 2_000 },
        system: [{ type: 'text' as const, text: 'Be brief.', ...mark }],
      }
      const message = isStream
        ? await client.messages.stream(request).finalMessage()
        : await client.messages.create(request)
      const calls = message.content.filter((block) => block.type === 'tool_use')
      if (calls.length === 0) {
        return message.content.map((block) => (block.type === 'text' ? block.text : '')).join('')
      }
      messages.push({ role: 'assistant', content: message.content })
      const results = calls.map(({ id, input }): Anthropic.ToolResultBlockParam => {
        const text = wordOf(input)
        const source = { type: 'base64' as const, media_type: 'image/png' as const, data: png }
        return {
          type: 'tool_result',
          tool_use_id: id,
          content: [
            { type: 'text', text },
            ...(text === 'saw one' ? [{ type: 'image' as const, source }] : []),
          ],
          ...(text === 'saw two' && mark),
        }
      })
      messages.push({ role: 'user', content: results })
    }
  },
  async '@google/genai'(model, isStream) {
    const ai = new GoogleGenAI({ apiKey: key, httpOptions: { baseUrl: origin } })
    const chat = ai.chats.create({
      model,
      config: {
        systemInstruction: 'Be brief.',
        thinkingConfig: { includeThoughts: true },
        tools: [
          {
            functionDeclarations: [{ name: 'look', description, parametersJsonSchema: parameters }],
          },
        ],
      },
    })
    let message: GooglePart[] = [{ text: 'Look at both.' }]
    for (;;) {
      const parts: GooglePart[] = []
      if (isStream) {
        for await (const one of await chat.sendMessageStream({ message })) {
          parts.push(...(one.candidates?.[0]?.content?.parts ?? []))
        }
      } else {
        parts.push(...((await chat.sendMessage({ message })).candidates?.[0]?.content?.parts ?? []))
      }
      const calls = parts.flatMap(({ functionCall }) => functionCall ?? [])
      if (calls.length === 0)
        return parts.map(({ text, thought }) => (thought ? '' : text)).join('')
      message = calls.map(({ id, name = '', args }): GooglePart => {
        const text = wordOf(args)
        const inlineData = { mimeType: 'image/png', data: png }
        return {
          functionResponse: {
            ...(id !== undefined && { id }),
            name,
            response: { output: text },
            ...(text === 'saw one' && { parts: [{ inlineData }] }),
          },
        }
      })
    }
  },
  async 'groq-sdk'(model) {
    const client = new Groq({ baseURL: origin, apiKey: key })
    const tools = [
      { type: 'function' as const, function: { name: 'look', description, parameters } },
    ]
    const messages: Groq.Chat.ChatCompletionMessageParam[] = [
      { role: 'user', content: 'Look at both.' },
    ]
    for (;;) {
      const { choices } = await client.chat.completions.create({ model, messages, tools })
      const message = choices[0]?.message
      if (!message?.tool_calls?.length) return message?.content ?? ''
      expect(message.reasoning).toBe(thinkers[model]?.thought.text)
      messages.push(message)
      for (const call of message.tool_calls) {
        const content = wordOf(call.function.arguments)
        messages.push({ role: 'tool', tool_call_id: call.id, content })
      }
    }
  },
}

/** A client without signed thoughts, images in results, and a reader of streams of its own. */
const plain = 'groq-sdk'

const rows = Object.keys(loops).flatMap((client) =>
  Object.keys(callIds).flatMap((model) =>
    (client === plain ? [false] : [false, true]).map((isStream) => ({ client, model, isStream })),
  ),
)

test.each(rows)('$client loops with $model, streamed: $isStream', async (row) => {
  const { client, model, isStream } = row
  expect(await loops[client]?.(model, isStream)).toBe('I saw both.')
  const { api, body } = requests.at(-1) ?? { api: 'chat', body: {} }
  const { messages }: ChatRequest = apis[api].decode(body)
  const turn = messages.findLast(({ role }) => role === 'assistant')
  const parts: readonly Part[] = turn?.content ?? []
  const calls = parts.flatMap((part) => (part.type === 'call' ? [part] : []))
  expect(calls.map(({ name, arguments: args }) => [name, JSON.parse(args).at])).toEqual([
    ['look', 1],
    ['look', 2],
  ])
  expect(new Set(calls.map(({ id }) => id)).size).toBe(2)
  const results = messages.flatMap((message) => (message.role === 'tool' ? [message] : []))
  expect(results.map(({ callId }) => callId)).toEqual(calls.map(({ id }) => id))
  for (const [at, word] of ['saw one', 'saw two'].entries()) {
    expect(JSON.stringify(results[at])).toContain(word)
  }
  const { thought: expected, callSignature } = thinkers[model] ?? {}
  if (callSignature) expect(calls[0]?.signature).toBe(callSignature)
  if (client !== plain && api !== 'cohere') expect(JSON.stringify(body)).toContain(png)
  if (client === '@anthropic-ai/sdk' && (api === 'messages' || api === 'chat')) {
    expect(JSON.stringify(body).split('"cache_control":{"type":"ephemeral"}').length - 1).toBe(3)
  }
  if (client === plain || api === 'gemini') return
  const thought = parts.find(({ type }) => type === 'thinking')
  if (client.startsWith('openai') && !client.includes('responses') && expected?.signature) {
    expect(isRecord(thought)).toBe(true)
    return
  }
  expect(thought).toMatchObject({ ...expected })
})

/** Returns the message that a client gets, by its name and its messages. */
async function messageFor(
  agent: string,
  messages: object[] = [{ role: 'user', content: 'Look at both.' }],
): Promise<Json> {
  const response = await fetch(`${v1}/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'user-agent': agent },
    body: JSON.stringify({ model: 'deep-thinker', messages }),
  })
  return recordOf(Object(await response.json()).choices[0].message)
}
const { text: thought } = thinkers['deep-thinker']?.thought ?? {}
const generateText = 'ai/7.0.173 ai-sdk-provider-utils/5.0.81'

test('generateText of the AI SDK gets thinking under both names', async () => {
  const both = { reasoning_content: thought, reasoning: thought }
  expect(await messageFor(generateText)).toMatchObject(both)
  const marked = { type: 'text', text: 'Look.', cache_control: { type: 'ephemeral' } }
  expect(await messageFor(generateText, [{ role: 'user', content: [marked] }])).toMatchObject(both)
  const { reasoning_content: text, reasoning } = await messageFor('curl/8')
  expect([text, reasoning]).toEqual([thought, undefined])
})

const url = `data:image/png;base64,${png}`
const look = { type: 'text', text: 'Look.' }
const call = { id: 'abcdefghi', type: 'function', function: { name: 'look', arguments: '{}' } }

test.each<[string, ...object[]]>([
  ['a text alone', { role: 'user', content: [look] }],
  ['an image', { role: 'user', content: [look, { type: 'image_url', image_url: url }] }],
  [
    'a result',
    { role: 'user', content: [look, look] },
    { role: 'assistant', content: '', tool_calls: [call] },
    { role: 'tool', name: 'look', tool_call_id: call.id, content: 'saw one' },
  ],
])('generateText with Mistral gets thinking as a part: %s', async (_, ...messages) => {
  const { content } = await messageFor(generateText, messages)
  expect(content).toMatchObject([{ type: 'thinking', thinking: [{ type: 'text', text: thought }] }])
})

test.each([
  ['AsyncGroq/Python 1.0.0', { reasoning: thought }],
  ['ai-sdk-groq/4.0.84 ai-sdk-provider-utils/5.0.81', { reasoning: thought }],
  ['ai-sdk/groq/3.0.1 ai-sdk/provider-utils/4.0.56', { reasoning: thought }],
  ['ai-sdk-mistral/4.0.87 ai-sdk-provider-utils/5.0.81', { content: [{ type: 'thinking' }] }],
])('%s gets thinking where it looks', async (agent, message) => {
  expect(await messageFor(agent)).toMatchObject(message)
})
