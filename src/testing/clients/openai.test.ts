import { afterAll, describe, expect, test } from 'bun:test'

import OpenAI from 'openai'
import { zodResponseFormat } from 'openai/helpers/zod'
import { OpenAIRealtimeWebSocket } from 'openai/realtime/websocket'
import { z } from 'zod'

import { catchError } from '../catch-error.ts'
import { until } from '../until.ts'
import { startClientServer } from './server.ts'

const model = 'demo/chat'
const messagesOf = (content: string) => [{ role: 'user' as const, content }]

const gateway = await startClientServer()
afterAll(() => gateway.stop())

for (const at of [0, 1]) {
  describe(`the openai client, base URL ${at === 0 ? 'with' : 'without'} /v1`, () => {
    const client = () =>
      new OpenAI({ baseURL: gateway.baseUrls[at] ?? '', apiKey: gateway.key, maxRetries: 0 })

    test('lists models and finds one by its id', async () => {
      const ids: string[] = []
      for await (const { id } of client().models.list()) ids.push(id)
      expect(ids).toContain(model)
      expect((await client().models.retrieve(model)).id).toBe(model)
    })

    test('a completion succeeds and is charged', async () => {
      const before = await gateway.spent()
      const response = await client().chat.completions.create({
        model,
        messages: messagesOf('ahoy there'),
      })
      expect(response.choices[0]?.message.content).toContain('ahoy there')
      expect(response.usage?.total_tokens).toBeGreaterThan(0)
      expect(await gateway.spent()).toBeGreaterThan(before)
    })

    test('a stream arrives in chunks and ends with its usage', async () => {
      const stream = await client().chat.completions.create({
        model,
        messages: messagesOf('one two three four'),
        stream: true,
        stream_options: { include_usage: true },
      })
      let text = ''
      let pieces = 0
      let usage = 0
      for await (const chunk of stream) {
        const piece = chunk.choices[0]?.delta.content ?? ''
        text += piece
        if (piece) pieces += 1
        usage = chunk.usage?.total_tokens ?? usage
      }
      expect(text).toContain('one two three four')
      expect(pieces).toBeGreaterThan(1)
      expect(usage).toBeGreaterThan(0)
    })

    test('the streaming helper collects the text', async () => {
      const stream = client().chat.completions.stream({ model, messages: messagesOf('gather me') })
      expect(await stream.finalContent()).toContain('gather me')
    })

    test('runTools calls the tool and sends its result back', async () => {
      const toolInputs: unknown[] = []
      const runner = client().chat.completions.runTools({
        model,
        messages: messagesOf('call depth'),
        tools: [
          {
            type: 'function',
            function: {
              name: 'depth',
              description: 'How deep the water is.',
              parameters: {
                type: 'object',
                properties: { place: { type: 'string' } },
                required: ['place'],
              },
              parse: JSON.parse,
              function: (given: unknown) => {
                toolInputs.push(given)
                return 'nine fathoms'
              },
            },
          },
        ],
      })
      expect(await runner.finalContent()).toContain('nine fathoms')
      expect(toolInputs).toHaveLength(1)
    })

    test('a structured response parses', async () => {
      const Boat = z.object({ name: z.string(), masts: z.number() })
      const response = await client().chat.completions.parse({
        model,
        messages: messagesOf('a boat'),
        response_format: zodResponseFormat(Boat, 'boat'),
      })
      expect(Boat.safeParse(response.choices[0]?.message.parsed).success).toBe(true)
    })

    test('errors are the client’s own classes', async () => {
      const send = (body: object) =>
        client().chat.completions.create({ model, messages: messagesOf('x'), ...body })
      expect(await catchError(send({ model: 'no/such' }))).toBeInstanceOf(OpenAI.NotFoundError)
      expect(await catchError(send({ messages: [] }))).toBeInstanceOf(OpenAI.BadRequestError)
      const stranger = new OpenAI({ baseURL: gateway.baseUrls[at] ?? '', apiKey: 'gk_no' })
      const rejected = catchError(
        stranger.chat.completions.create({ model, messages: messagesOf('x') }),
      )
      expect(await rejected).toBeInstanceOf(OpenAI.AuthenticationError)
    })
  })
}

test('a realtime session of the SDK responds, is charged, and reports errors', async () => {
  const { WebSocket: Native } = globalThis
  // The SDK connects with TLS only, and the server of the test has none.
  globalThis.WebSocket = new Proxy(Native, {
    construct: (target, [url, ...options]) =>
      Reflect.construct(target, [String(url).replace('wss:', 'ws:'), ...options]),
  })
  try {
    const client = new OpenAI({ baseURL: gateway.baseUrls[0] ?? '', apiKey: gateway.key })
    const session = new OpenAIRealtimeWebSocket({ model: 'demo/realtime' }, client)
    const before = await gateway.spent()
    const text = Promise.withResolvers<string>()
    const error = Promise.withResolvers<string>()
    session.on('session.created', () => {
      const content = [{ type: 'input_text' as const, text: 'ahoy there' }]
      session.send({
        type: 'conversation.item.create',
        item: { type: 'message', role: 'user', content },
      })
      session.send({ type: 'response.create' })
      session.send({ type: 'input_audio_buffer.clear' })
    })
    session.on('response.output_text.done', (event) => text.resolve(event.text))
    session.on('error', (problem) => error.resolve(problem.message))
    expect(await text.promise).toBe('ahoy there')
    expect(await error.promise).toContain('takes no audio')
    await until(async () => (await gateway.spent()) > before)
    session.close()
    await until(() => gateway.sessions() === 0)
  } finally {
    globalThis.WebSocket = Native
  }
})
