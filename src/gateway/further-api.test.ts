import { afterAll, expect, test } from 'bun:test'

import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'

import { asString, type Json, recordOf } from '../kernel/schema.ts'
import { createRouter } from '../server/http/router.ts'
import { routesOf } from '../server/http/routes.ts'
import { startWithProviders } from '../testing/fixtures/with-providers.ts'
import { createChat } from './chat/chat.ts'
import { type ChatEvent, type ChatResponse, usageEvents } from './conversation/chat-event.ts'
import type {
  ChatClient,
  ClientCodec,
  FinalUsage,
  StreamWriter,
  UpstreamCodec,
} from './conversation/codec.ts'
import { JsonReader } from './conversation/json-reader.ts'
import { encodeEvent, keepAlive, type StreamEvent } from './events.ts'
import { CountReader } from './models/usage.ts'
import { chatErrors, ChunksSchema } from './openai-chat/schemas.ts'
import { paidOperation } from './operation.ts'
import { providerKinds } from './providers/ai-sdk/provider-kinds.ts'

/** A small API, as the folder of a further API would have it. */
declare module './conversation/chat-request.ts' {
  interface Apis {
    toy: true
  }
}

const toyClient = (raw: unknown): ChatClient => ({
  api: 'toy',
  raw,
  names: { messages: 'ask' },
  open: () => {
    const body = recordOf(raw)
    return {
      request: {
        messages: [{ role: 'user', content: [{ type: 'text', text: asString(body.ask) }] }],
        tools: [],
        choices: 1,
        sampling: {},
        stop: [],
        extra: {},
        raw: { api: 'toy', body },
      },
      model: body.model,
      models: undefined,
      provider: undefined,
      isStream: body.live === true,
      search: false,
      codec: () => toyCodecOfClient,
    }
  },
})

const spent = ({ usage }: FinalUsage): Json => ({ in: usage.prompt, out: usage.completion })
const textIn = ({ choices: [choice] }: ChatResponse): string =>
  (choice?.content ?? []).map((part) => ('text' in part ? part.text : '')).join('')

const toyCodecOfClient: ClientCodec = {
  createWriter: () => new ToyWriter(),
  encode: (response, final) => ({ reply: textIn(response), spent: spent(final) }),
  pass: (response) => response,
}

class ToyWriter implements StreamWriter {
  private isPassed = false

  write(events: readonly ChatEvent[]): Uint8Array {
    const texts = events.filter((event) => event.type === 'text')
    return Buffer.concat(texts.map(({ text }) => encodeEvent({ word: text })))
  }

  pass(own: StreamEvent): StreamEvent {
    this.isPassed = true
    return own
  }

  beat(): Uint8Array {
    return keepAlive
  }

  end(final: FinalUsage): Uint8Array {
    return this.isPassed ? Buffer.alloc(0) : encodeEvent({ spent: spent(final) })
  }

  fail(error: Json): Uint8Array {
    return encodeEvent({ problem: error.message })
  }
}

const usageOf = (spentTokens: unknown): ChatEvent[] => {
  const { in: prompt, out: completion } = recordOf(spentTokens)
  const counts = new CountReader()
  return usageEvents({ prompt: counts.count(prompt), completion: counts.count(completion) })
}
const ending: ChatEvent[] = [{ type: 'end', choice: 0, reason: 'stop' }, { type: 'done' }]

class ToyReader extends JsonReader {
  protected readJson({ word, spent: tokens }: Json): ChatEvent[] {
    if (tokens !== undefined) return [...usageOf(tokens), ...ending]
    return [{ type: 'text', choice: 0, text: asString(word) }]
  }
}

const toyCodec: UpstreamCodec = {
  api: 'toy',
  encode: ({ messages, raw }, { model, isStream, outputMax }) => {
    const texts = messages.flatMap(({ content }) => content)
    const ask = texts.map((part) => ('text' in part ? part.text : '')).join('\n')
    const sent = raw?.api === 'toy' ? raw.body : { ask }
    return { path: '/ask', body: { ...sent, model, live: isStream, words: outputMax } }
  },
  ignoredFields: () => [],
  readWhole: ({ reply, spent: tokens }) => [
    { type: 'text', choice: 0, text: asString(reply) },
    ...usageOf(tokens),
    ...ending,
  ],
  createReader: () => new ToyReader(),
}

const createToyChat = paidOperation({
  id: 'create_toy_chat',
  route: 'POST /ask',
  tag: 'Chat',
  summary: 'Ask a model.',
  input: { type: 'object' },
  output: [Type.Unknown(), ChunksSchema],
  errors: chatErrors,
  run: (ctx, spender, raw, call) => createChat(ctx, spender, call, toyClient(raw)),
})

const openAiChat = {
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hi.' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 5, completion_tokens: 2 },
}
const upstream = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  fetch: async (request) => {
    if (request.url.endsWith('/chat/completions')) return Response.json(openAiChat)
    const { ask, live, words } = recordOf(await request.json())
    const reply = `${asString(ask)}? Yes, in ${String(words)} words.`
    const tokens = { in: 3, out: 4 }
    if (!live) return Response.json({ reply, spent: tokens })
    return new Response(
      `data: ${JSON.stringify({ word: reply })}\n\ndata: ${JSON.stringify({ spent: tokens })}\n\n`,
      { headers: { 'content-type': 'text/event-stream' } },
    )
  },
})
// Its row in the table of provider kinds: this one has no other API of chats.
providerKinds.deepgram.codec = toyCodec
const baseUrl = `http://127.0.0.1:${upstream.port}`
const t = await startWithProviders([
  { id: 'toy/one', kind: 'deepgram', baseUrl },
  { id: 'gpt/one', kind: 'openai', baseUrl },
])
const router = createRouter(t.ctx)
const { gateway } = await router.load()
gateway.use(new Elysia({ prefix: '/v1' }).use(routesOf(t.ctx, [createToyChat], { urlOf: String })))
afterAll(async () => {
  delete providerKinds.deepgram.codec
  await upstream.stop(true)
  await t.close()
})

const ask = async (key: string, path: string, body: Json) =>
  router.handle(
    new Request(`http://localhost:3000${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    }),
    '192.0.2.1',
  )

test('a chat of a further API passes between its client and its upstream', async () => {
  const gus = await t.gus()
  const body = { model: 'toy/one', ask: 'Ahoy' }
  const whole = await ask(gus.key, '/v1/ask', body)
  const reply = 'Ahoy? Yes, in 1000 words.'
  expect([whole.status, await whole.json()]).toEqual([200, { reply, spent: { in: 3, out: 4 } }])
  expect(await t.lastUse(gus)).toMatchObject({ input: 3, output: 4, estimated: false })
  const live = await ask(gus.key, '/v1/ask', { ...body, live: true })
  expect(await live.text()).toBe(
    `data: {"word":"${reply}"}\n\ndata: {"spent":{"in":3,"out":4}}\n\n`,
  )
})

test('its clients reach models with other APIs, and other clients reach its models', async () => {
  const gus = await t.gus()
  const live = await ask(gus.key, '/v1/ask', { model: 'gpt/one', ask: 'Ahoy', live: true })
  expect(await live.text()).toBe('data: {"word":"Hi."}\n\ndata: {"spent":{"in":5,"out":2}}\n\n')
  const messages = [{ role: 'user', content: 'Ahoy' }]
  const chat = { model: 'toy/one', max_tokens: 20, messages }
  const content = 'Ahoy? Yes, in 20 words.'
  expect((await gus.call('POST', '/v1/chat/completions', chat)).body).toMatchObject({
    choices: [{ message: { role: 'assistant', content }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 3, completion_tokens: 4 },
  })
  expect((await gus.call('POST', '/v1/messages', chat)).body).toMatchObject({
    content: [{ type: 'text', text: content }],
    usage: { input_tokens: 3, output_tokens: 4 },
  })
})
