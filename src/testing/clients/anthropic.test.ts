import { afterAll, describe, expect, test } from 'bun:test'

import { createAnthropic } from '@ai-sdk/anthropic'
import Anthropic from '@anthropic-ai/sdk'
import { generateText, isStepCount, streamText, tool } from 'ai'
import { z } from 'zod'

import { catchError } from '../catch-error.ts'
import { startClientServer } from './server.ts'

const model = 'demo/chat'
const depth = {
  name: 'depth',
  description: 'How deep the water is.',
  input_schema: {
    type: 'object' as const,
    properties: { place: { type: 'string' } },
    required: ['place'],
  },
}

const gateway = await startClientServer()
afterAll(() => gateway.stop())

const origin = () => gateway.baseUrls[1] ?? ''
const client = (auth: object = { apiKey: gateway.key }) =>
  new Anthropic({ baseURL: origin(), maxRetries: 0, ...auth })
const ask = (content: string) => ({
  model,
  max_tokens: 200,
  messages: [{ role: 'user' as const, content }],
})

describe('@anthropic-ai/sdk', () => {
  test('a message is answered and paid, with either kind of key', async () => {
    for (const auth of [{ apiKey: gateway.key }, { apiKey: null, authToken: gateway.key }]) {
      const before = await gateway.spent()
      const message = await client(auth).messages.create(ask('ahoy there'))
      expect(message).toMatchObject({
        type: 'message',
        role: 'assistant',
        stop_reason: 'end_turn',
        content: [{ type: 'text', text: 'ahoy there', citations: null }],
      })
      expect(message.usage.input_tokens).toBeGreaterThan(0)
      expect(message.usage.output_tokens).toBeGreaterThan(0)
      expect(await gateway.spent()).toBeGreaterThan(before)
    }
  })

  test('a stream arrives in pieces and ends with its usage', async () => {
    const stream = client().messages.stream(ask('one two three four'))
    const pieces: string[] = []
    stream.on('text', (piece) => pieces.push(piece))
    const { content, stop_reason, usage } = await stream.finalMessage()
    expect(pieces.join('')).toBe('one two three four')
    expect(pieces.length).toBeGreaterThan(1)
    expect(content).toMatchObject([{ type: 'text', text: 'one two three four' }])
    expect(stop_reason).toBe('end_turn')
    const whole = await client().messages.create(ask('one two three four'))
    const { input_tokens, output_tokens } = whole.usage
    expect(usage).toMatchObject({ input_tokens, output_tokens })
  })

  for (const isStream of [false, true]) {
    test(`a tool is called and its result comes back, ${isStream ? 'streamed' : 'plain'}`, async () => {
      const send = (body: Anthropic.MessageCreateParamsNonStreaming) =>
        isStream ? client().messages.stream(body).finalMessage() : client().messages.create(body)
      const question = { ...ask('call depth'), tools: [depth] }
      const called = await send(question)
      expect(called.stop_reason).toBe('tool_use')
      const [call] = called.content
      if (call?.type !== 'tool_use') throw new Error('no tool call')
      expect(call).toMatchObject({ name: 'depth', input: { place: expect.any(String) } })
      const response = await send({
        ...question,
        messages: [
          ...question.messages,
          { role: 'assistant', content: called.content },
          {
            role: 'user',
            content: [{ type: 'tool_result', tool_use_id: call.id, content: 'nine fathoms' }],
          },
        ],
      })
      expect(response.content).toMatchObject([{ type: 'text', text: 'nine fathoms' }])
    })

    test(`reasoning is a thinking block, ${isStream ? 'streamed' : 'plain'}`, async () => {
      const thinking = { type: 'enabled' as const, budget_tokens: 1_024 }
      const body = { ...ask('think first'), thinking }
      const { content } = isStream
        ? await client().messages.stream(body).finalMessage()
        : await client().messages.create(body)
      expect(content).toMatchObject([
        { type: 'thinking', thinking: expect.stringContaining('repeat'), signature: 'berth.chat.' },
        { type: 'text', text: 'think first' },
      ])
    })
  }

  test('the tool runner of the client completes the loop', async () => {
    const places: unknown[] = []
    const runner = client().beta.messages.toolRunner({
      ...ask('call depth'),
      tools: [
        {
          ...depth,
          parse: (input) => input,
          run: (input) => {
            places.push(input)
            return 'nine fathoms'
          },
        },
      ],
    })
    const { content } = await runner.runUntilDone()
    expect(content).toMatchObject([{ type: 'text', text: 'nine fathoms' }])
    expect(places).toHaveLength(1)
  })

  test('tokens are counted without a charge', async () => {
    const before = await gateway.spent()
    const { max_tokens, ...body } = ask('a few words')
    const few = await client().messages.countTokens(body)
    const more = await client().messages.countTokens({
      ...body,
      system: 'Many more words. '.repeat(50),
    })
    expect(few.input_tokens).toBeGreaterThan(0)
    expect(more.input_tokens).toBeGreaterThan(few.input_tokens)
    expect(await gateway.spent()).toBe(before)
  })

  test('errors are the client’s own classes', async () => {
    const send = (body: object) => catchError(client().messages.create({ ...ask('x'), ...body }))
    expect(await send({ model: 'no/such' })).toBeInstanceOf(Anthropic.NotFoundError)
    const invalid = await send({ messages: [] })
    expect(invalid).toBeInstanceOf(Anthropic.BadRequestError)
    expect(invalid).toMatchObject({
      type: 'invalid_request_error',
      requestID: expect.any(String),
      apiMessage: expect.stringContaining('messages'),
    })
    const unknown = client({ apiKey: 'gk_no' })
    expect(await catchError(unknown.messages.create(ask('x')))).toBeInstanceOf(
      Anthropic.AuthenticationError,
    )
  })

  test('models have a display name', async () => {
    const names: unknown[] = []
    for await (const { id, display_name } of client().models.list()) names.push([id, display_name])
    expect(names).toContainEqual([model, expect.any(String)])
  })
})

describe('@ai-sdk/anthropic', () => {
  const chat = () => createAnthropic({ baseURL: `${origin()}/v1`, apiKey: gateway.key })(model)
  const tools = {
    depth: tool({
      description: depth.description,
      inputSchema: z.object({ place: z.string() }),
      execute: () => 'nine fathoms',
    }),
  }

  test('a text and a stream arrive with their usage', async () => {
    const whole = await generateText({ model: chat(), prompt: 'ahoy there' })
    expect(whole.text).toBe('ahoy there')
    expect(whole.usage.totalTokens).toBeGreaterThan(0)
    const streamed = streamText({ model: chat(), prompt: 'one two three' })
    let text = ''
    for await (const piece of streamed.textStream) text += piece
    expect(text).toBe('one two three')
    expect((await streamed.usage).totalTokens).toBeGreaterThan(0)
  })

  test('a tool is called and its result is used, plain and streamed', async () => {
    const request = { model: chat(), prompt: 'call depth', tools, stopWhen: isStepCount(3) }
    expect((await generateText(request)).text).toBe('nine fathoms')
    expect(await streamText(request).text).toBe('nine fathoms')
  })
})

test('HEAD / is 200', async () => {
  expect((await fetch(origin(), { method: 'HEAD' })).status).toBe(200)
})
