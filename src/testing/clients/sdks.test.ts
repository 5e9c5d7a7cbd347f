import { afterAll, expect, test } from 'bun:test'

import { createOpenAI } from '@ai-sdk/openai'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { ChatOpenAI } from '@langchain/openai'
import { Agent, OpenAIProvider, Runner, tool } from '@openai/agents'
import { generateText, streamText, tool as aiTool } from 'ai'
import { z } from 'zod'

import { startClientServer } from './server.ts'

const model = 'demo/chat'
const depth = {
  name: 'depth',
  description: 'How deep the water is.',
  parameters: z.object({ place: z.string() }),
}

const gateway = await startClientServer()
afterAll(() => gateway.stop())

const at = () => ({ baseURL: gateway.baseUrls[0] ?? '', apiKey: gateway.key })

test('AI SDK, openai-compatible: a text, a stream and tools work', async () => {
  const provider = createOpenAICompatible({ name: 'berth', includeUsage: true, ...at() })
  const chat = provider(model)
  const whole = await generateText({ model: chat, prompt: 'ahoy there' })
  expect(whole.text).toContain('ahoy there')
  expect(whole.usage.totalTokens).toBeGreaterThan(0)

  const streamed = streamText({ model: chat, prompt: 'one two three' })
  let text = ''
  for await (const piece of streamed.textStream) text += piece
  expect(text).toContain('one two three')
  expect((await streamed.usage).totalTokens).toBeGreaterThan(0)

  const { toolCalls } = await generateText({
    model: chat,
    prompt: 'call depth',
    tools: { depth: aiTool({ description: depth.description, inputSchema: depth.parameters }) },
  })
  expect(toolCalls.map(({ toolName }) => toolName)).toEqual(['depth'])
})

test('AI SDK, openai: a chat gets a response', async () => {
  const provider = createOpenAI(at())
  const { text } = await generateText({ model: provider.chat(model), prompt: 'hello chat' })
  expect(text).toContain('hello chat')
})

test('LangChain: invoke, stream and tools work', async () => {
  const { apiKey, baseURL } = at()
  const chat = new ChatOpenAI({ model, apiKey, configuration: { baseURL } })
  expect((await chat.invoke('ahoy there')).text).toContain('ahoy there')
  let text = ''
  for await (const piece of await chat.stream('one two three')) text += piece.text
  expect(text).toContain('one two three')
  const bound = chat.bindTools([{ ...depth, schema: depth.parameters }])
  expect((await bound.invoke('call depth')).tool_calls?.[0]?.name).toBe('depth')
})

test('OpenAI Agents over chat: a tool is called and its result is used', async () => {
  const provider = new OpenAIProvider({ ...at(), useResponses: false })
  const places: string[] = []
  const agent = new Agent({
    name: 'Pilot',
    instructions: 'You know the water.',
    model,
    tools: [
      tool({
        ...depth,
        execute: async ({ place }) => {
          places.push(place)
          return 'nine fathoms'
        },
      }),
    ],
  })
  const runner = new Runner({ modelProvider: provider, tracingDisabled: true })
  const { finalOutput } = await runner.run(agent, 'call depth')
  expect(finalOutput).toContain('nine fathoms')
  expect(places).toHaveLength(1)
})
