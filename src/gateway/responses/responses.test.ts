import { afterAll, beforeAll, describe, expect, test } from 'bun:test'

import { fakeText } from '../../testing/fakes/chat-scripts.ts'
import {
  type FakeUpstreamServer,
  startFakeUpstreamServer,
} from '../../testing/fixtures/fake-upstream-server.ts'
import { createGatewayUser, type GatewayUser } from '../../testing/fixtures/gateway.ts'
import { startTestServer, type TestServer } from '../../testing/fixtures/test-server.ts'

let faked: FakeUpstreamServer
let demo: TestServer
let gus: GatewayUser

beforeAll(async () => {
  faked = await startFakeUpstreamServer()
  demo = await startTestServer({ DEMO_MODELS: 'on' })
  gus = await createGatewayUser(demo, '1')
})
afterAll(async () => {
  await faked.close()
  await demo.close()
})

const model = 'demo/chat'
const depth = {
  type: 'function',
  name: 'depth',
  description: 'How deep the water is.',
  parameters: { type: 'object', properties: { place: { type: 'string' } }, required: ['place'] },
}
const text: unknown = expect.any(String)

/** Returns the events of a stream. Their names are their types, and their numbers are in order. */
function eventsOf(body: unknown): Record<string, unknown>[] {
  const frames = String(body).trim().split('\n\n')
  return frames.map((frame, at) => {
    const [name = '', data = ''] = frame.split('\n')
    const event = JSON.parse(data.slice('data: '.length))
    expect([name, event.sequence_number]).toEqual([`event: ${event.type}`, at])
    return event
  })
}

const ask = (body: object) => gus.call('POST', '/v1/responses', { model, ...body })
const stream = async (body: object) => eventsOf((await ask({ stream: true, ...body })).body)
const typesOf = (events: Record<string, unknown>[]) =>
  events.map(({ type }) => type).filter((type, at, all) => type !== all[at - 1])

describe('a search of the web', () => {
  const input = 'tides at the cape'
  const tools = [{ type: 'web_search' }]
  const page = { type: 'url_citation', url: text, title: text }

  test('is requested by a tool, and its pages are annotations', async () => {
    const { body, status } = await ask({ input, tools, tool_choice: { type: 'web_search' } })
    expect({ status, body }).toMatchObject({
      status: 200,
      body: {
        tools,
        output: [
          { type: 'message', content: [{ type: 'output_text', annotations: [page, page] }] },
        ],
      },
    })
  })

  test('has its pages in a stream after the text', async () => {
    const events = await stream({ input, tools: [{ type: 'web_search_preview' }] })
    const added = events.filter(({ type }) => type === 'response.output_text.annotation.added')
    expect(added).toMatchObject([
      { output_index: 0, content_index: 0, annotation_index: 0, item_id: text, annotation: page },
      { annotation_index: 1 },
    ])
    const done = { type: 'output_text', annotations: [page, page] }
    expect(events.at(-1)).toMatchObject({ response: { output: [{ content: [done] }] } })
  })

  test('without a search engine is left out, and W206 where the client insists', async () => {
    const ann = await faked.gus()
    const search = (more: object) =>
      ann.call('POST', '/v1/responses', { model: 'fake/ok', input, tools, ...more })
    expect((await search({})).status).toBe(200)
    expect(faked.fake.received.at(-1)?.body).not.toHaveProperty('tools')
    const forced = await search({ tool_choice: { type: 'web_search' } })
    expect([forced.status, forced.code]).toEqual([400, 'W206'])
  })
})

describe('a completion', () => {
  test('is a Response with the cost of the same chat', async () => {
    const ann = await faked.gus()
    const received = { model: 'fake/ok', max_output_tokens: 50 }
    const answer = await ann.call('POST', '/v1/responses', { ...received, input: 'Say hello.' })
    const { use, total } = await faked.lastUse(ann)
    expect(answer.status).toBe(200)
    expect(answer.body).toMatchObject({
      id: expect.stringMatching(/^resp_[0-9a-f]{32}$/),
      object: 'response',
      created_at: 1,
      status: 'completed',
      error: null,
      incomplete_details: null,
      model: 'fake',
      completed_at: 1,
      frequency_penalty: null,
      presence_penalty: null,
      store: false,
      previous_response_id: null,
      max_output_tokens: 50,
      tools: [],
      output: [
        {
          type: 'message',
          id: text,
          status: 'completed',
          role: 'assistant',
          content: [
            { type: 'output_text', text: fakeText.join(''), annotations: [], logprobs: [] },
          ],
        },
      ],
      usage: {
        input_tokens: 11,
        output_tokens: 7,
        total_tokens: 18,
        input_tokens_details: { cached_tokens: 4, cache_write_tokens: 0 },
        output_tokens_details: { reasoning_tokens: 2 },
        cost: Number(use?.charged) / 1e9,
      },
    })
    expect(answer.headers.get('x-service-cost')).toBe(
      (Number(use?.charged) / 1e9).toFixed(9).replace(/0+$/, ''),
    )
    const messages = [{ role: 'user', content: 'Say hello.' }]
    const chat = { model: 'fake/ok', max_tokens: 50, messages }
    await ann.call('POST', '/v1/chat/completions', chat)
    const after = await faked.lastUse(ann)
    expect([total, after.total]).toEqual([1, 2])
    expect([after.use?.charged, after.use?.held]).toEqual([use?.charged, use?.held])
    expect(await faked.findProblems(ann)).toEqual([])
  })

  test('has reasoning before its message, and a function call', async () => {
    const thought = await ask({ input: 'hello', reasoning: { effort: 'low' } })
    expect(thought.body).toMatchObject({
      output: [
        { type: 'reasoning', summary: [{ type: 'summary_text', text }] },
        { type: 'message', content: [{ text: 'hello' }] },
      ],
    })
    const called = await ask({ input: 'call depth', tools: [depth] })
    expect(called.body).toMatchObject({
      output: [
        {
          type: 'function_call',
          id: expect.stringMatching(/^fc_/),
          status: 'completed',
          call_id: expect.stringMatching(/^call_/),
          name: 'depth',
          arguments: expect.stringContaining('place'),
        },
      ],
    })
  })

  test('calls a namespaced function by its own name, and accepts it back', async () => {
    const tools = [{ type: 'namespace', name: 'boat', description: '', tools: [depth] }]
    const input = [{ role: 'user', content: 'call boat__depth' }]
    const called = await ask({ input, tools })
    const [call] = Object(called.body).output
    expect(call).toMatchObject({ type: 'function_call', name: 'depth', namespace: 'boat' })
    const events = await stream({ input, tools })
    const done = events.find(({ type }) => type === 'response.output_item.done')
    expect(done?.item).toEqual({ ...call, id: text })
    const output = { type: 'function_call_output', call_id: call.call_id, output: 'nine fathoms' }
    const after = await ask({ input: [...input, call, output], tools })
    expect(after.body).toMatchObject({ output: [{ content: [{ text: 'nine fathoms' }] }] })
  })

  test('calls a custom tool with text, and accepts the call and its output back', async () => {
    const grammar = { type: 'grammar', syntax: 'lark', definition: 'start: "*** Begin Patch"' }
    const patch = { type: 'custom', name: 'apply_patch', description: 'Edits.', format: grammar }
    const input = [{ role: 'user', content: 'call apply_patch' }]
    const called = await ask({ input, tools: [patch], tool_choice: 'required' })
    const [call] = Object(called.body).output
    expect(call).toEqual({
      id: text,
      type: 'custom_tool_call',
      status: 'completed',
      call_id: expect.stringMatching(/^call_/),
      name: 'apply_patch',
      input: text,
    })
    expect(call.input).not.toContain('{')
    const events = await stream({ input, tools: [patch] })
    expect(typesOf(events).slice(2, -1)).toEqual([
      'response.output_item.added',
      'response.custom_tool_call_input.delta',
      'response.custom_tool_call_input.done',
      'response.output_item.done',
    ])
    const done = events.find(({ type }) => type === 'response.output_item.done')
    expect(done?.item).toEqual({ ...call, id: text, call_id: text })
    const output = { type: 'custom_tool_call_output', call_id: call.call_id, output: 'patched' }
    const after = await ask({ input: [...input, call, output], tools: [patch] })
    expect(after.body).toMatchObject({ output: [{ content: [{ text: 'patched' }] }] })
  })

  test('searches for tools of the client, and calls what the search found', async () => {
    const parameters = { type: 'object', properties: { query: { type: 'string' } } }
    const tools = [{ type: 'tool_search', execution: 'client', description: 'Finds.', parameters }]
    const input = [{ role: 'user', content: 'call tool_search' }]
    const called = await ask({ input, tools })
    const [call] = Object(called.body).output
    expect(call).toMatchObject({
      type: 'tool_search_call',
      execution: 'client',
      arguments: { query: text },
    })
    const found = {
      type: 'tool_search_output',
      call_id: call.call_id,
      tools: [{ type: 'namespace', name: 'boat', tools: [{ ...depth, defer_loading: true }] }],
    }
    const next = { role: 'user', content: 'call boat__depth' }
    const after = await ask({ input: [...input, call, found, next], tools })
    expect(after.body).toMatchObject({
      output: [{ type: 'function_call', name: 'depth', namespace: 'boat' }],
    })
  })

  test('is incomplete at its token limit', async () => {
    const received = { input: 'one two three four', max_output_tokens: 2 }
    const cut = {
      status: 'incomplete',
      incomplete_details: { reason: 'max_output_tokens' },
      output: [{ status: 'incomplete' }],
    }
    expect((await ask(received)).body).toMatchObject(cut)
    expect((await stream(received)).at(-1)).toMatchObject({
      type: 'response.incomplete',
      response: cut,
    })
  })

  test('is replayed under its Idempotency-Key and charged once', async () => {
    for (const [at, isStream] of [true, false].entries()) {
      const ann = await faked.gus()
      const body = { model: 'fake/ok', input: 'Say hello.', stream: isStream }
      const again = () =>
        ann.call('POST', '/responses', body, { 'idempotency-key': `response-${at}` })
      const first = await again()
      expect(first.status).toBe(200)
      faked.clock.advance(5_000)
      expect((await again()).body).toEqual(first.body)
      expect((await faked.lastUse(ann)).total).toBe(1)
    }
  })
})

describe('an item id', () => {
  const input = [{ role: 'user', content: 'call depth' }]
  const received = { tools: [depth], input }
  const again = (call: { id: string; call_id: string }) => ({
    tools: [depth],
    input: [
      ...input,
      { type: 'item_reference', id: call.id },
      { type: 'function_call_output', call_id: call.call_id, output: 'nine fathoms' },
    ],
  })
  const called = async () => Object((await ask(received)).body).output[0]

  test('replaces the item, also of a stream', async () => {
    const streamed = Object((await stream(received)).at(-1)?.response).output[0]
    const whole = await called()
    expect(whole.id).not.toBe(streamed.id)
    for (const call of [whole, streamed]) {
      const answer = await ask(again(call))
      expect(answer.body).toMatchObject({ output: [{ content: [{ text: 'nine fathoms' }] }] })
      // The type may be absent or null.
      const [requests, , output] = again(call).input
      for (const reference of [{ id: call.id }, { id: call.id, type: null }]) {
        const bare = await ask({ tools: [depth], input: [requests, reference, output] })
        expect(bare.status).toBe(200)
      }
    }
  })

  test('is unknown to other accounts, with "store": false, and after an hour', async () => {
    const call = await called()
    const ben = await createGatewayUser(demo, '1', '198.51.100.77')
    const other = await ben.call('POST', '/v1/responses', { model, ...again(call) })
    const unknown = { message: expect.stringContaining('"store": false'), param: 'input' }
    expect(other).toMatchObject({ status: 400, body: { error: unknown } })
    const unkept = Object((await ask({ ...received, store: false })).body).output[0]
    expect(await ask(again(unkept))).toMatchObject({ status: 400, body: { error: unknown } })
    demo.clock.advance(3_600_001)
    expect(await ask(again(call))).toMatchObject({ status: 400, body: { error: unknown } })
  })
})

describe('a stream', () => {
  test('sends a message in deltas', async () => {
    const events = await stream({ input: 'one two three' })
    expect(typesOf(events)).toEqual([
      'response.created',
      'response.in_progress',
      'response.output_item.added',
      'response.content_part.added',
      'response.output_text.delta',
      'response.output_text.done',
      'response.content_part.done',
      'response.output_item.done',
      'response.completed',
    ])
    const deltas = events.filter(({ type }) => type === 'response.output_text.delta')
    expect(deltas.length).toBeGreaterThan(1)
    expect(deltas.map(({ delta }) => delta).join('')).toBe('one two three')
    const last = events.at(-1)
    const whole = await ask({ input: 'one two three' })
    const { usage, output } = Object(last?.response)
    expect(output).toMatchObject([{ content: [{ text: 'one two three' }] }])
    expect(usage).toEqual(Object(whole.body).usage)
    expect(usage.cost).toBeGreaterThan(0)
    expect(events[0]).toMatchObject({
      response: { status: 'in_progress', output: [], usage: null },
    })
  })

  test('sends reasoning and calls', async () => {
    const received = { input: 'call depth', tools: [depth], reasoning: { effort: 'high' } }
    const events = await stream(received)
    expect(typesOf(events).slice(2)).toEqual([
      'response.output_item.added',
      ...['added', 'done'].flatMap((end) => [
        ...(end === 'done' ? ['response.reasoning_summary_text.done'] : []),
        `response.reasoning_summary_part.${end}`,
        ...(end === 'added' ? ['response.reasoning_summary_text.delta'] : []),
      ]),
      'response.output_item.done',
      'response.output_item.added',
      'response.function_call_arguments.delta',
      'response.function_call_arguments.done',
      'response.output_item.done',
      'response.completed',
    ])
    const pieces = events.filter(({ type }) => type === 'response.function_call_arguments.delta')
    const done = events.find(({ type }) => type === 'response.function_call_arguments.done')
    expect(pieces.map(({ delta }) => delta).join('')).toBe(String(done?.arguments))
    expect(done).toMatchObject({ output_index: 1, name: 'depth' })
  })

  test('that breaks off ends with an error and is charged like the chat', async () => {
    for (const script of ['error-event', 'no-done']) {
      const ann = await faked.gus()
      const body = { model: `fake/${script}`, input: 'Say hello.', stream: true }
      const answer = await ann.call('POST', '/v1/responses', body)
      expect(answer.status).toBe(200)
      const [error, failed] = eventsOf(answer.body).slice(-2)
      const failure = { code: 'upstream_stream_error', message: expect.stringContaining('charged') }
      expect(error).toMatchObject({ type: 'error', ...failure })
      expect(failed).toMatchObject({
        type: 'response.failed',
        response: { status: 'failed', error: failure },
      })
      const { use } = await faked.lastUse(ann)
      const messages = [{ role: 'user', content: 'Say hello.' }]
      const stream_options = { include_usage: true }
      const chat = { model: `fake/${script}`, messages, stream: true, stream_options }
      await ann.call('POST', '/v1/chat/completions', chat)
      const after = await faked.lastUse(ann)
      expect([after.use?.charged, after.use?.held]).toEqual([use?.charged, use?.held])
      expect(use?.charged).toBeGreaterThan(0n)
      expect(await faked.findProblems(ann)).toEqual([])
    }
  })

  test('that fails before its first event is an error response', async () => {
    const ann = await faked.gus()
    const body = { model: 'fake/500', input: 'Say hello.', stream: true }
    const answer = await ann.call('POST', '/v1/responses', body)
    expect([answer.status, Object(answer.body).error.type]).toEqual([502, 'api_error'])
    expect((await faked.lastUse(ann)).use).toMatchObject({ charged: 0n, status: 'failed' })
  })
})
