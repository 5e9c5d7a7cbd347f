import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { createOpenRouter } from '@openrouter/ai-sdk-provider'
import { generateText, stepCountIs, streamText, tool } from 'ai'
import Groq from 'groq-sdk'
import { z } from 'zod'

import { type ClientServer, startClientServer } from './server.ts'

/** Clients that write a file with a tool and tell the model its result. */
let gateway: ClientServer
const folder = mkdtempSync(join(tmpdir(), 'berth-round-trips-'))
beforeAll(async () => {
  gateway = await startClientServer()
})
afterAll(async () => {
  await gateway.stop()
  rmSync(folder, { recursive: true })
})

const model = 'demo/chat'
const parameters = {
  type: 'object',
  properties: { path: { type: 'string' }, content: { type: 'string' } },
  required: ['path', 'content'],
}
const definition = { name: 'write_file', description: 'Writes a file.', parameters }
const tools = [{ type: 'function' as const, function: definition }]
const promptFor = (name: string) =>
  `call write_file ${JSON.stringify({ path: join(folder, name), content: name })}`

/** Writes the file that the arguments of a call name, and returns the result of the tool. */
function writeFile(args: unknown): string {
  const fields: unknown = typeof args === 'string' ? JSON.parse(args) : args
  const { path, content } = z.object({ path: z.string(), content: z.string() }).parse(fields)
  writeFileSync(path, content)
  return `wrote ${content}`
}
const written = (name: string) => readFileSync(join(folder, name), 'utf8')
const origin = () => gateway.baseUrls[1] ?? ''

test('groq-sdk: a tool round trip, whole and streamed', async () => {
  const groq = new Groq({ apiKey: gateway.key, baseURL: origin() })
  const ask = { role: 'user' as const, content: promptFor('groq.txt') }
  const first = await groq.chat.completions.create({ model, messages: [ask], tools })
  const message = first.choices[0]?.message
  const call = message?.tool_calls?.[0]
  if (!message || !call) throw new Error('The model called no tool.')
  const reply = {
    role: 'tool' as const,
    tool_call_id: call.id,
    content: writeFile(call.function.arguments),
  }
  expect(written('groq.txt')).toBe('groq.txt')
  const messages = [ask, { ...message, content: message.content ?? '' }, reply]
  let text = ''
  const stream = await groq.chat.completions.create({ model, messages, tools, stream: true })
  for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? ''
  expect(text).toContain('wrote groq.txt')
})

test('AI SDK, OpenRouter: a tool round trip, whole and streamed', async () => {
  const provider = createOpenRouter({ apiKey: gateway.key, baseURL: `${origin()}/api/v1` })
  const inputSchema = z.object({ path: z.string(), content: z.string() })
  const write = tool({
    description: definition.description,
    inputSchema,
    execute: (input) => Promise.resolve(writeFile(input)),
  })
  const options = {
    model: provider(model),
    tools: { write_file: write },
    stopWhen: stepCountIs(3),
  }
  const whole = await generateText({ ...options, prompt: promptFor('openrouter.txt') })
  expect([written('openrouter.txt'), whole.text]).toEqual([
    'openrouter.txt',
    expect.stringContaining('wrote openrouter.txt'),
  ])
  const streamed = streamText({ ...options, prompt: promptFor('openrouter-stream.txt') })
  expect(await streamed.text).toContain('wrote openrouter-stream.txt')
  expect(written('openrouter-stream.txt')).toBe('openrouter-stream.txt')
})
