import { afterAll, describe, expect, test } from 'bun:test'

import { createOpenAI } from '@ai-sdk/openai'
import { Agent, OpenAIProvider, Runner, tool } from '@openai/agents'
import { generateText, isStepCount, type ModelMessage, streamText, tool as aiTool } from 'ai'
import OpenAI from 'openai'
import { zodTextFormat } from 'openai/helpers/zod'
import { z } from 'zod'

import { catchError } from '../catch-error.ts'
import { startResponsesRelay } from './responses-relay.ts'
import { startClientServer } from './server.ts'

const model = 'demo/chat'
const description = 'How deep the water is.'
const place = z.object({ place: z.string() })

const gateway = await startClientServer()
const relay = await startResponsesRelay(model)
afterAll(async () => {
  await gateway.stop()
  await relay.stop()
})

const at = ({ baseUrls, key } = gateway) => ({ baseURL: baseUrls[0] ?? '', apiKey: key })

for (const [base, name] of ['with', 'without'].entries()) {
  describe(`openai's responses, base URL ${name} /v1`, () => {
    const client = () =>
      new OpenAI({ ...at(), baseURL: gateway.baseUrls[base] ?? '', maxRetries: 0 })

    test('a response succeeds and is charged', async () => {
      const before = await gateway.spent()
      const response = await client().responses.create({ model, input: 'ahoy there' })
      expect(response).toMatchObject({
        output_text: 'ahoy there',
        status: 'completed',
        error: null,
      })
      expect(response.usage?.total_tokens).toBeGreaterThan(0)
      expect(await gateway.spent()).toBeGreaterThan(before)
    })

    test('a stream arrives in chunks and ends completed', async () => {
      const stream = await client().responses.create({ model, input: 'one two', stream: true })
      let text = ''
      let last = ''
      for await (const event of stream) {
        if (event.type === 'response.output_text.delta') text += event.delta
        last = event.type
      }
      expect([text, last]).toEqual(['one two', 'response.completed'])
    })

    test('the streaming helper collects the text', async () => {
      const stream = client().responses.stream({ model, input: 'gather me' })
      const { output_text, usage } = await stream.finalResponse()
      expect(output_text).toBe('gather me')
      expect(usage?.output_tokens).toBeGreaterThan(0)
    })

    test('a structured response parses', async () => {
      const Boat = z.object({ name: z.string(), masts: z.number() })
      const text = { format: zodTextFormat(Boat, 'boat') }
      const response = await client().responses.parse({ model, input: 'a boat', text })
      expect(Boat.safeParse(response.output_parsed).success).toBe(true)
    })

    test('errors are the client’s own classes', async () => {
      const send = (body: object) => client().responses.create({ model, input: 'x', ...body })
      expect(await catchError(send({ model: 'no/such' }))).toBeInstanceOf(OpenAI.NotFoundError)
      expect(await catchError(send({ store: true }))).toBeInstanceOf(OpenAI.BadRequestError)
    })
  })
}

test('AI SDK, openai, with its defaults: text, stream, tools and their results', async () => {
  const chat = createOpenAI(at())(model)
  const whole = await generateText({ model: chat, prompt: 'ahoy there', system: 'Be brief.' })
  expect(whole.text).toBe('ahoy there')
  expect(whole.usage.totalTokens).toBeGreaterThan(0)

  const streamed = streamText({ model: chat, prompt: 'one two three' })
  let text = ''
  for await (const piece of streamed.textStream) text += piece
  expect(text).toBe('one two three')
  expect((await streamed.usage).totalTokens).toBeGreaterThan(0)

  const execute = async () => 'nine fathoms'
  const request = {
    model: chat,
    prompt: 'call depth',
    tools: { depth: aiTool({ description, inputSchema: place, execute }) },
    stopWhen: isStepCount(3),
  }
  const looped = await generateText(request)
  expect([looped.steps.length, looped.text]).toEqual([2, 'nine fathoms'])
  expect(await streamText(request).text).toBe('nine fathoms')
})

const thinks = { reasoningEffort: 'low', forceReasoning: true } as const
const conversations = [{}, thinks, { store: false }].flatMap((options) => [
  [options, 'whole', 'translated'] as const,
  [options, 'streamed', 'translated'] as const,
  [options, 'whole', 'relayed'] as const,
  [options, 'streamed', 'relayed'] as const,
])
test.each(conversations)('AI SDK, %j, %s, %s: three turns and a tool', async (openai, how, way) => {
  const chat = createOpenAI(at(way === 'relayed' ? relay.server : gateway))(model)
  const messages: ModelMessage[] = []
  const execute = async () => 'nine fathoms'
  const request = {
    model: chat,
    tools: { depth: aiTool({ description, inputSchema: place, execute }) },
    stopWhen: isStepCount(3),
    providerOptions: { openai },
  }
  const send = async (content: string): Promise<string> => {
    messages.push({ role: 'user', content })
    const response =
      how === 'whole'
        ? await generateText({ ...request, messages })
        : streamText({ ...request, messages })
    messages.push(...(await response.response).messages)
    return response.text
  }
  expect(await send('ahoy there')).toBe('ahoy there')
  expect(await send('call depth')).toBe('nine fathoms')
  expect(await send('and then?')).toBe('and then?')
  expect(relay.takePaths()).toEqual(way === 'relayed' ? ['/v1/responses'] : [])
})

test('OpenAI Agents over responses: a tool is called and its result is used', async () => {
  const provider = new OpenAIProvider({ ...at(), useResponses: true })
  const runner = new Runner({ modelProvider: provider, tracingDisabled: true })
  for (const stream of [false, true]) {
    const places: string[] = []
    const agent = new Agent({
      name: 'Pilot',
      instructions: 'You know the water.',
      model,
      tools: [
        tool({
          name: 'depth',
          description,
          parameters: place,
          execute: async ({ place: request }) => {
            places.push(request)
            return 'nine fathoms'
          },
        }),
      ],
    })
    const output = stream
      ? await runner.run(agent, 'call depth', { stream: true }).then(async (run) => {
          await run.completed
          return run.finalOutput
        })
      : (await runner.run(agent, 'call depth')).finalOutput
    expect(output).toContain('nine fathoms')
    expect(places).toHaveLength(1)
  }
})
