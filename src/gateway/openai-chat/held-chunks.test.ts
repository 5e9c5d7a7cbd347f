import { expect, test } from 'bun:test'

import type { Json } from '../../kernel/schema.ts'
import { createGatewayUser } from '../../testing/fixtures/gateway.ts'
import { startTestServer } from '../../testing/fixtures/test-server.ts'
import { bytesOf, encodeEvent, EventReader } from '../events.ts'
import { createUsage } from '../models/usage.ts'
import type { Flavor } from './message.ts'
import { createChatReader } from './read.ts'
import { createChatClient } from './write.ts'

const chunk = (choice: object): Uint8Array => encodeEvent({ id: 'c', choices: [choice] })
const part = (index: number, called: object, id?: string) => ({
  index: 0,
  delta: { tool_calls: [{ index, ...(id && { id, type: 'function' }), function: called }] },
  finish_reason: null,
})

const usage = createUsage({ prompt: 1, completion: 2 })

/** Returns what a client gets, from an upstream with the chat API or another one. */
async function convert(
  events: (Uint8Array | string)[],
  isPassed = true,
  { flavor = 'mistral', wantsUsage = false }: { flavor?: Flavor; wantsUsage?: boolean } = {},
): Promise<string> {
  const options = { model: 'm', id: 'c', created: 1, wantsUsage, flavor }
  const writer = createChatClient(options).createWriter()
  const reader = createChatReader()
  const stream = await new Blob(events).bytes()
  let hasFailed = false
  const parts = new EventReader(1_000_000).push(stream).flatMap((own) => {
    const steps = own.data === undefined ? [] : (reader.read(own.data) ?? [])
    const failed = steps.find((step) => step.type === 'error')
    hasFailed ||= failed !== undefined
    if (failed) return [writer.fail(failed.error, { usage })]
    if (!isPassed) return [writer.write(steps)]
    const passed = writer.pass(own, steps)
    return passed ? [bytesOf([passed])] : []
  })
  const closing = hasFailed ? [] : [await writer.end({ usage })]
  return Buffer.concat([...parts, ...closing]).toString()
}
const dataOf = (text: string): Json[] =>
  [...text.matchAll(/^data: (\{.*)$/gm)].map(([, data = '']) => JSON.parse(data))

const interleaved = [
  chunk({ index: 0, delta: { content: 'Hm.' }, finish_reason: null }),
  ': comment\n\n',
  chunk(part(0, { name: 'a', arguments: '{"x"' }, 'c1')),
  chunk(part(1, { name: 'b', arguments: '' }, 'c2')),
  chunk(part(0, { arguments: ':1}' })),
  chunk(part(1, { arguments: '{}' })),
  chunk({ index: 0, delta: {}, finish_reason: 'tool_calls' }),
  'data: [DONE]\n\n',
]

test.each([true, false])(
  'interleaved calls are sent whole with the chunk that ends the choice (passed: %p)',
  async (isPassed) => {
    const text = await convert(interleaved, isPassed)
    const chunks = dataOf(text)
    const calls = chunks.flatMap((one) => Object(one).choices[0].delta.tool_calls ?? [])
    expect(calls).toEqual([
      { index: 0, id: 'c1', type: 'function', function: { name: 'a', arguments: '{"x":1}' } },
      { index: 1, id: 'c2', type: 'function', function: { name: 'b', arguments: '{}' } },
    ])
    expect(chunks.at(-1)).toMatchObject({
      choices: [{ finish_reason: 'tool_calls' }],
      usage: { prompt_tokens: 1, completion_tokens: 2 },
    })
    expect(text).toContain('Hm.')
    if (isPassed) expect(text).toContain(': comment\n\n')
    expect(text).toEndWith('data: [DONE]\n\n')
  },
)

test.each([true, false])(
  "Groq's clients get the usage in the chunk that ends the choice (passed: %p)",
  async (isPassed) => {
    const chunks = dataOf(await convert(interleaved, isPassed, { flavor: 'groq' }))
    const counts = { prompt_tokens: 1, completion_tokens: 2 }
    expect(chunks.at(-1)).toMatchObject({
      choices: [{ index: 0, finish_reason: 'tool_calls' }],
      x_groq: { usage: counts },
    })
    expect(chunks.filter(({ usage: own }) => own)).toEqual([])
    const pieces = chunks.flatMap((one) => Object(one).choices[0].delta.tool_calls ?? [])
    expect(pieces.length).toBeGreaterThan(2)
    const both = await convert(interleaved, isPassed, { flavor: 'groq', wantsUsage: true })
    expect(dataOf(both).at(-1)).toMatchObject({ choices: [], usage: counts })
  },
)

test('calls of a choice without an end come before the end of the stream', async () => {
  const text = await convert([chunk(part(0, { name: 'a' }, 'c1')), 'data: [DONE]\n\n'])
  expect(dataOf(text).at(-1)).toMatchObject({
    id: 'c',
    choices: [{ index: 0, delta: { tool_calls: [{ id: 'c1' }] }, finish_reason: null }],
  })
})

test('the pieces of a custom call are sent whole', async () => {
  const piece = (custom: object, id?: string) =>
    chunk({
      index: 0,
      delta: { tool_calls: [{ index: 0, ...(id && { id, type: 'custom' }), custom }] },
      finish_reason: null,
    })
  const events = [
    piece({ name: 'write', input: 'the ' }, 'c1'),
    piece({ input: 'tide' }),
    chunk({ index: 0, delta: {}, finish_reason: 'tool_calls' }),
    'data: [DONE]\n\n',
  ]
  for (const isPassed of [true, false]) {
    const calls = dataOf(await convert(events, isPassed)).flatMap(
      (one) => Object(one).choices[0].delta.tool_calls ?? [],
    )
    const custom = { name: 'write', input: 'the tide' }
    expect(calls).toEqual([{ index: 0, id: 'c1', type: 'custom', custom }])
  }
})

test('an error of the upstream is passed on', async () => {
  const text = await convert([encodeEvent({ error: { message: 'cut' } })])
  expect(dataOf(text)).toEqual([{ error: { message: 'cut' } }])
})

test('only clients of Mistral get whole calls', async () => {
  const t = await startTestServer({ DEMO_MODELS: 'on' })
  const gus = await createGatewayUser(t, '1')
  const body = {
    model: 'demo/chat',
    messages: [{ role: 'user', content: 'call f {"text":"one two three four"}' }],
    tools: [{ type: 'function', function: { name: 'f', parameters: { type: 'object' } } }],
    stream: true,
  }
  const namesFor = async (agent: string) => {
    const headers = { 'user-agent': agent }
    const { body: text } = await gus.call('POST', '/v1/chat/completions', body, headers)
    expect(String(text)).toEndWith('data: [DONE]\n\n')
    return dataOf(String(text))
      .flatMap((one) => Object(one).choices[0]?.delta.tool_calls ?? [])
      .map((call: { function: { name?: string } }) => call.function.name)
  }
  expect(await namesFor('mistral-client-typescript/2.7.0')).toEqual(['f'])
  expect(await namesFor('ai/6.0.1 ai-sdk/mistral/3.0.69 runtime/bun/1')).toEqual(['f'])
  expect(await namesFor('ai-sdk-mistral/4.0.87 ai-sdk-provider-utils/5.0.81')).toEqual(['f'])
  expect((await namesFor('OpenAI/JS 7')).length).toBeGreaterThan(1)
  await t.close()
})
