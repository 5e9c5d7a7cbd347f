import { afterAll, describe, expect, test } from 'bun:test'

import { startFakeUpstreamServer } from '../../testing/fixtures/fake-upstream-server.ts'
import { createGatewayUser } from '../../testing/fixtures/gateway.ts'
import { askAs, depth, typesOf } from '../../testing/fixtures/responses.ts'
import { startTestServer } from '../../testing/fixtures/test-server.ts'

const faked = await startFakeUpstreamServer()
const demo = await startTestServer({ DEMO_MODELS: 'on' })
const { ask, stream } = askAs(await createGatewayUser(demo, '1'))
afterAll(async () => {
  await faked.close()
  await demo.close()
})

const text: unknown = expect.any(String)

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
    expect(forced.body).toMatchObject({ error: { param: 'tools' } })
  })
})

describe('a completion', () => {
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
      const response = await ask(again(call))
      expect(response.body).toMatchObject({ output: [{ content: [{ text: 'nine fathoms' }] }] })
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
    const other = await ben.call('POST', '/v1/responses', { model: 'demo/chat', ...again(call) })
    const unknown = { message: expect.stringContaining('"store": false'), param: 'input' }
    expect(other).toMatchObject({ status: 400, body: { error: unknown } })
    const unkept = Object((await ask({ ...received, store: false })).body).output[0]
    expect(await ask(again(unkept))).toMatchObject({ status: 400, body: { error: unknown } })
    demo.clock.advance(3_600_001)
    expect(await ask(again(call))).toMatchObject({ status: 400, body: { error: unknown } })
  })
})
