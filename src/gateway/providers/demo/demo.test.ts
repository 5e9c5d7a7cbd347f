import { expect, test } from 'bun:test'

import { Ajv } from 'ajv'

import { type ChatEvent, gather } from '../../conversation/chat-event.ts'
import { decodeChat } from '../../openai-chat/decode.ts'
import { createDemoUpstream } from './demo.ts'
import { sampleOfSchema } from './json-schema.ts'

const demo = createDemoUpstream({ now: () => 1_700_000_000_000 })
const signal = AbortSignal.timeout(10_000)
const user = (content: unknown) => ({ role: 'user', content })

/** Sends the chat of a client of OpenAI's API. */
function ask(body: Record<string, unknown>, model = 'demo/chat', more = { signal }) {
  const { request, isStream } = decodeChat({ model, ...body }, {})
  return demo.chat({ model, request, isStream, outputMax: 4_096, stopsItself: false, ...more })
}

async function stepsOf(body: Record<string, unknown>) {
  const sent = await ask(body)
  if (!('steps' in sent)) throw new Error('no steps')
  expect(sent.ignored).toEqual([])
  return sent.steps
}

async function complete(body: Record<string, unknown>) {
  const events: ChatEvent[] = []
  for await (const steps of await stepsOf(body)) events.push(...steps)
  const usage = events.flatMap((event) => (event.type === 'usage' ? [event.usage] : []))[0]
  return { ...gather(events), usage }
}

test('completes a chat at the time of the clock', async () => {
  const { created, choices } = await complete({ messages: [user('Hello,  wörld 👋')] })
  expect(created).toBe(1_700_000_000)
  expect(choices).toMatchObject([
    { content: [{ type: 'text', text: 'Hello,  wörld 👋' }], reason: 'stop' },
  ])
})

test('returns a value for a json_schema', async () => {
  const schema = {
    type: 'object',
    properties: {
      name: { type: 'string', minLength: 12 },
      age: { type: 'integer', minimum: 18 },
      ratio: { type: 'number', exclusiveMinimum: 0, maximum: 0.5 },
      kind: { enum: ['a', 'b'] },
      when: { type: 'string', format: 'date-time' },
      tags: { type: 'array', items: { type: 'string' }, minItems: 2 },
      next: { anyOf: [{ $ref: '#/$defs/node' }, { type: 'null' }] },
      both: { allOf: [{ type: 'object', properties: { x: { const: 1 } }, required: ['x'] }] },
    },
    required: ['name', 'age', 'ratio', 'kind', 'when', 'tags', 'next', 'both'],
    additionalProperties: false,
    $defs: {
      node: {
        type: 'object',
        properties: { next: { anyOf: [{ $ref: '#/$defs/node' }, { type: 'null' }] } },
        required: ['next'],
      },
    },
  }
  const format = { type: 'json_schema', json_schema: { name: 'it', strict: true, schema } }
  const { choices } = await complete({ messages: [user('hi')], response_format: format })
  const [part] = choices[0]?.content ?? []
  const value: unknown = JSON.parse(part?.type === 'text' ? part.text : '')
  expect(new Ajv({ strict: false, validateFormats: false }).validate(schema, value)).toBe(true)
})

test('returns a value for a recursive schema', () => {
  expect(JSON.stringify(sampleOfSchema({ $ref: '#' })).length).toBeLessThan(100)
  const wide = {
    type: 'object',
    properties: { a: { $ref: '#' }, b: { $ref: '#' } },
    required: ['a'],
  }
  expect(JSON.stringify(sampleOfSchema(wide)).length).toBeLessThan(20_000)
  expect(sampleOfSchema({ type: 'string', minLength: 1e9 })).toHaveLength(1_000)
  const lists = { type: 'array', items: { $ref: '#' }, minItems: 1e9 }
  const twice = { type: 'object', properties: { a: { $ref: '#' }, b: { $ref: '#' } } }
  const long = { ...lists, items: { anyOf: [{ $ref: '#' }] } }
  for (const endless of [lists, long, { ...twice, required: ['a', 'b'] }]) {
    expect(JSON.stringify(sampleOfSchema(endless)).length).toBeLessThan(600_000)
  }
  const copies = { type: 'array', minItems: 10, items: { $ref: '#/$defs/row' } }
  const row = { type: 'array', minItems: 10, items: { const: 'x'.repeat(10_000) } }
  expect(JSON.stringify(sampleOfSchema({ ...copies, $defs: { row } })).length).toBeLessThan(600_000)
})

test('returns as many choices as a request may have', async () => {
  const { choices } = await complete({ messages: [user('hi')], n: 20 })
  expect(choices).toHaveLength(20)
  expect(choices[19]?.content).toEqual([{ type: 'text', text: 'hi' }])
})

test('counts an image as 100 tokens', async () => {
  const content = [
    { type: 'text', text: 'What is this?' },
    { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
  ]
  const { choices, usage } = await complete({ messages: [user(content)] })
  expect(choices[0]?.content).toEqual([{ type: 'text', text: 'What is this?' }])
  expect(usage?.prompt).toBe(103)
})

test('stops an unread stream', async () => {
  const steps = await stepsOf({ messages: [user('word '.repeat(3_000))], stream: true })
  const reader = steps[Symbol.asyncIterator]()
  expect(await reader.next()).toMatchObject({ done: false })
  await reader.return?.()
  expect(await reader.next()).toMatchObject({ done: true })
})

test('responds 404 to an unknown model or operation', async () => {
  for (const model of ['demo/nothing', 'demo/image']) {
    expect(await ask({ messages: [user('hi')] }, model)).toMatchObject({
      rejected: {
        status: 404,
        body: { error: { message: expect.stringContaining(`No demo model ${model}`) } },
      },
    })
  }
  const sent = await demo.send({ path: '/embeddings', model: 'demo/chat', body: {}, signal })
  expect(sent).toMatchObject({ rejected: { status: 404 } })
})

test('returns nothing when aborted', async () => {
  const left = { signal: AbortSignal.abort() }
  const aborted = { kind: 'aborted' }
  await expect(ask({ messages: [user('hi')] }, 'demo/chat', left)).rejects.toMatchObject(aborted)
  const call = { path: '/embeddings' as const, model: 'demo/embedding', body: { input: 'hi' } }
  await expect(demo.send({ ...call, ...left })).rejects.toMatchObject(aborted)
})

test('rejects custom tools by name', async () => {
  const tools = [{ type: 'custom', custom: { name: 'patch' } }]
  await expect(ask({ messages: [user('call patch')], tools })).rejects.toMatchObject({
    errorName: 'bad_request',
    details: [{ problem: expect.stringContaining('not of the type custom') }],
  })
})
