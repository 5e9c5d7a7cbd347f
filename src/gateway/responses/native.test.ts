import { afterAll, describe, expect, test } from 'bun:test'

import { chunked, fakeText, json } from '../../testing/fakes/chat-scripts.ts'
import { startFakeUpstream } from '../../testing/fakes/upstream.ts'
import { eventsOf } from '../../testing/fixtures/responses.ts'
import { startWithProviders } from '../../testing/fixtures/with-providers.ts'
import { chargeOf } from '../models/charge.ts'
import { createUsage } from '../models/usage.ts'

const names = [
  'ok',
  '500',
  'other',
  'tools',
  'failed',
  'absent',
  'sealed',
  'silent',
  'effort',
  'short',
]
const text = fakeText.join('')

const fake = startFakeUpstream()
const upstream = { kind: 'openai', baseUrl: fake.baseUrl }
const models = names.map((name) => ({ ...upstream, id: `fake/${name}`, responses: true }))
// The same model at an upstream without the Responses API.
const chat = { ...upstream, id: 'chat/ok', model: 'fake/ok' }
const ctx = await startWithProviders([...models, chat], { SEARCH_ON: 'off' })
const gus = await ctx.gus('5')
afterAll(async () => {
  fake.close()
  await ctx.close()
})

const ask = (body: object, headers = {}) =>
  gus.call('POST', '/v1/responses', { model: 'fake/ok', input: 'Say hello.', ...body }, headers)

/** Returns the requests that reach the upstream during a call. */
async function receivedBy(call: () => Promise<unknown>) {
  const before = fake.received.length
  await call()
  return fake.received.slice(before)
}

const patch = {
  type: 'custom',
  name: 'apply_patch',
  format: { type: 'grammar', syntax: 'lark', definition: 'start: "*** Begin Patch"' },
}
const search = { type: 'tool_search', execution: 'client', parameters: { type: 'object' } }
const usage = { input_tokens: 11, output_tokens: 7, total_tokens: 18 }
const custom = { id: 'ctc_1', type: 'custom_tool_call', call_id: 'call_1', name: 'apply_patch' }

/** Events as an upstream writes them, with spaces and fields that this gateway does not know. */
const toolEvents = [
  { type: 'response.created', response: { id: 'resp_1', output: [], zebra: 1 } },
  { type: 'response.output_item.added', output_index: 0, item: { ...custom, input: '' } },
  { type: 'response.custom_tool_call_input.delta', item_id: 'ctc_1', delta: '*** Begin' },
  { type: 'response.custom_tool_call_input.delta', item_id: 'ctc_1', delta: ' Patch' },
  { type: 'response.custom_tool_call_input.done', item_id: 'ctc_1', input: '*** Begin Patch' },
  { type: 'response.output_item.done', item: { ...custom, input: '*** Begin Patch' } },
  { type: 'response.zebra', stripes: ['{', '}'] },
  { type: 'response.completed', response: { id: 'resp_1', status: 'completed', usage } },
].map((event, at) => {
  const data = JSON.stringify({ ...event, sequence_number: at }, null, 1).replaceAll('\n', ' ')
  return `event: ${event.type}\ndata: ${data}\n\n`
})

describe('an upstream with the Responses API', () => {
  test('gets the request itself, without what would cost more', async () => {
    const kept = {
      input: [
        { role: 'developer', content: 'Be brief.' },
        { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'sealed' },
        { ...custom, input: 'x' },
        { type: 'custom_tool_call_output', call_id: 'call_1', output: 'patched' },
        { role: 'user', content: [{ type: 'input_text', text: 'Go on.' }] },
      ],
      instructions: 'You know the water.',
      tools: [patch, search],
      tool_choice: 'auto',
      include: ['reasoning.encrypted_content'],
      truncation: 'auto',
      metadata: { a: 'b' },
      max_output_tokens: 50,
      text: { verbosity: 'low' },
    }
    const [first, unsealed, , ...rest] = kept.input
    const made = { type: 'function_call', call_id: 'c', name: 'depth', arguments: '{}' }
    const response = ask({
      ...kept,
      input: [
        first,
        { type: 'reasoning', id: 'rs_2', summary: [{ type: 'summary_text', text: 'Hm.' }] },
        { ...made, id: `fc_${'0'.repeat(32)}0` },
        ...kept.input.slice(1),
      ],
      tools: [{ type: 'web_search' }, ...kept.tools],
      reasoning: { effort: 'low', summary: 'auto', mode: 'pro' },
      service_tier: 'flex',
      prompt_cache_retention: '24h',
      context_management: [{ type: 'compaction' }],
      zebra: 1,
      provider: {},
    })
    const [received, ...more] = await receivedBy(() => response)
    const { status, headers } = await response
    expect([status, more.length, received?.path]).toEqual([200, 0, '/v1/responses'])
    expect(received?.body).toEqual({
      ...kept,
      model: 'fake/ok',
      // OpenAI requires the reasoning that is left out beside items with its ids.
      input: [first, made, unsealed, { ...custom, id: undefined, input: 'x' }, ...rest],
      reasoning: { effort: 'low', summary: 'auto' },
      store: false,
    })
    expect(headers.get('x-ignored-fields')).toBe(
      'service_tier, prompt_cache_retention, context_management, zebra',
    )
  })

  test('a custom tool with a grammar and its events arrive byte for byte, and replayed', async () => {
    fake.script('fake/tools', chunked(toolEvents))
    const tools = [patch, search]
    const body = { model: 'fake/tools', tools, stream: true }
    const headers = { 'idempotency-key': 'native-responses' }
    const [received] = await receivedBy(async () => {
      expect((await ask(body, headers)).body).toBe(toolEvents.join(''))
    })
    expect(received?.body).toMatchObject({ tools, stream: true })
    expect((await ctx.lastUse(gus)).estimated).toBe(false)
    const again = await receivedBy(async () => {
      expect((await ask(body, headers)).body).toBe(toolEvents.join(''))
    })
    expect(again).toEqual([])
  })

  test('has its response passed on with the cost, charged by its usage', async () => {
    const { body, headers } = await ask({})
    const { charged } = await ctx.lastUse(gus)
    const price = ctx.ctx.catalog.find('fake/ok')?.model.price
    const used = createUsage({ prompt: 11, cached: 4, completion: 7, reasoning: 2 })
    if (!price) throw new Error('no price')
    expect(charged).toBe(chargeOf(price, used))
    expect(body).toMatchObject({
      id: 'resp_fake',
      output: [{ id: 'msg_fake', content: [{ text }] }],
      usage: { input_tokens: 11, output_tokens: 7, cost: Number(charged) / 1e9 },
    })
    expect(Number(headers.get('x-service-cost'))).toBe(Number(charged) / 1e9)
  })

  test('gets an item that the client names by its id', async () => {
    for (const stream of [false, true]) {
      const item = { type: 'item_reference', id: 'msg_fake' }
      const stranger = await ctx.gus('1')
      const input = [item, { role: 'user', content: 'Again.' }]
      const foreign = await stranger.call('POST', '/v1/responses', { model: 'fake/ok', input })
      expect(foreign.status).toBe(400)
      const send = (body: object) => stranger.call('POST', '/v1/responses', body)
      await send({ model: 'fake/ok', input: 'Say hello.', stream })
      const [received] = await receivedBy(() => send({ model: 'fake/ok', input }))
      expect(received?.body.input).toMatchObject([{ id: 'msg_fake', content: [{ text }] }, {}])
    }
  })

  test('that fails in mid-stream is charged by the usage it reports', async () => {
    const error = { code: 'server_error', message: 'Of the operator.' }
    const sent = [
      { type: 'response.created', response: { id: 'resp_1' }, sequence_number: 0 },
      { type: 'response.output_text.delta', delta: 'Hello', sequence_number: 1 },
      { type: 'response.failed', response: { error, usage }, sequence_number: 2 },
    ].map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
    fake.script('fake/failed', chunked(sent))
    const { body } = await ask({ model: 'fake/failed', stream: true })
    const events = eventsOf(body)
    expect(events.slice(2)).toMatchObject([
      { type: 'error', code: 'upstream_stream_error' },
      { type: 'response.failed', response: { id: 'resp_1', status: 'failed' } },
    ])
    expect(String(body)).not.toContain(error.message)
    expect(await ctx.lastUse(gus)).toMatchObject({ input: 11, output: 7, status: 'failed' })
  })

  test('has a hold that covers what only it receives', async () => {
    await ask({ max_output_tokens: 50 })
    const { held } = await ctx.lastUse(gus)
    const sealed = { type: 'reasoning', summary: [], encrypted_content: 'x'.repeat(20_000) }
    const input = [{ role: 'user', content: 'Say hello.' }, sealed]
    await ask({ max_output_tokens: 50, input })
    // The price of a token is 1,000 nano-USD.
    expect((await ctx.lastUse(gus)).held - held).toBeGreaterThan(20_000_000n)
  })

  test('does not get a request that is rejected, and nothing is held', async () => {
    const before = await ctx.snapshot()
    const received = await receivedBy(async () => {
      for (const body of [
        { tools: [{ type: 'code_interpreter', container: { type: 'auto' } }] },
        { tools: [{ type: 'mcp', server_label: 'a' }] },
        { tools: [search], input: [{ type: 'tool_search_output', tools: [{ type: 'shell' }] }] },
        { service_tier: 'priority' },
        { background: true },
        { store: true },
        { input: [{ role: 'user', content: [{ type: 'input_file', file_url: 'http://a.b' }] }] },
        { input: [{ type: 'item_reference', id: 'msg_unknown' }] },
      ]) {
        expect([body, (await ask(body)).status]).toEqual([body, 400])
      }
    })
    expect(received).toEqual([])
    expect(await ctx.snapshot()).toEqual(before)
  })
})

describe('a chat is sent', () => {
  const ok = json(200, { choices: [{ message: { content: 'Hi.' } }], usage })
  const chat = '/v1/chat/completions'

  test.each([false, true])(
    'to an upstream without the API, also as fallback, %p',
    async (stream) => {
      const fallback = { model: 'fake/500', models: ['chat/ok'] }
      const paths = await receivedBy(async () => {
        const { body } = await ask({ ...fallback, tools: [patch], stream })
        expect(JSON.stringify(body)).toContain('Hello wörld')
        expect(await ctx.lastUse(gus)).toMatchObject({ model: 'chat/ok', estimated: false })
      })
      expect(paths.map(({ path }) => path)).toEqual(['/v1/responses', chat])
      expect(paths[1]?.body.tools).toMatchObject([{ function: { name: 'apply_patch' } }])
      const [back] = await receivedBy(() => ask({ model: 'chat/ok', models: ['fake/ok'], stream }))
      expect(back?.path).toBe(chat)
    },
  )

  test('where the API lacks the model, which is requested once', async () => {
    const unknown = { error: { message: 'Not here.', param: 'model', code: 'unsupported_model' } }
    fake.script('fake/absent', json(400, unknown), ok)
    const received = await receivedBy(async () => {
      for (const _ of [1, 2]) {
        const { body, status } = await ask({ model: 'fake/absent', truncation: 'auto' })
        expect([status, body]).toMatchObject([200, { output: [{ content: [{ text: 'Hi.' }] }] }])
      }
    })
    expect(received.map(({ path }) => path)).toEqual(['/v1/responses', chat, chat])
  })

  test.each([
    { code: 'invalid_encrypted_content', param: null },
    { code: null, param: 'include' },
    { code: null, param: 'reasoning.summary' },
    { code: null, param: 'tools[0].type' },
  ])('where the upstream rejects only what a chat does not have: %j', async (error) => {
    const rejected = json(400, { error: { message: 'No.', ...error } })
    fake.script('fake/sealed', rejected, ok, rejected, ok)
    const received = await receivedBy(async () => {
      for (const _ of [1, 2]) {
        expect((await ask({ model: 'fake/sealed', tools: [patch] })).status).toBe(200)
      }
    })
    expect(received.map(({ path }) => path)).toEqual(['/v1/responses', chat, '/v1/responses', chat])
  })

  test('where the output limit of another API is too low for this one', async () => {
    fake.script('fake/short', ok)
    const messages = [{ role: 'user', content: 'Hi.' }]
    const body = { model: 'fake/short', output_config: { effort: 'low' }, messages }
    const received = await receivedBy(async () => {
      for (const max_tokens of [15, 16]) {
        await gus.call('POST', '/v1/messages', { ...body, max_tokens })
      }
    })
    expect(received.map(({ path }) => path)).toEqual([chat, '/v1/responses'])
  })

  test('without effort, where the model shows no thoughts, for which it is asked once', async () => {
    const rejected = json(400, { error: { message: 'No.', param: 'reasoning' } })
    const message = { type: 'message', content: [{ type: 'output_text', text: 'Hi.' }] }
    const done = json(200, { id: 'resp_1', status: 'completed', output: [message], usage })
    fake.script('fake/silent', rejected, done, done, ok)
    const send = (thinking: object) =>
      gus.call('POST', '/v1/messages', {
        model: 'fake/silent',
        max_tokens: 3_000,
        messages: [{ role: 'user', content: 'Say hello.' }],
        thinking,
      })
    const budget = { type: 'enabled', budget_tokens: 1_024 }
    const received = await receivedBy(async () => {
      for (const thinking of [budget, budget, { type: 'adaptive' }]) {
        const { body } = await send(thinking)
        expect(body).toMatchObject({ content: [{ type: 'text', text: 'Hi.' }] })
      }
    })
    expect(received.map(({ path, body }) => [path, body.reasoning])).toEqual([
      ['/v1/responses', { effort: 'low', summary: 'auto' }],
      ['/v1/responses', { effort: 'low' }],
      ['/v1/responses', { effort: 'low' }],
      [chat, undefined],
    ])
  })

  test('with thoughts again, after an effort that the model rejects', async () => {
    const rejected = (param: string) => json(400, { error: { message: 'No such effort.', param } })
    const message = { type: 'message', content: [{ type: 'output_text', text: 'Hi.' }] }
    const done = json(200, { id: 'resp_1', status: 'completed', output: [message], usage })
    const [named, whole] = [rejected('reasoning.effort'), rejected('reasoning')]
    fake.script('fake/effort', named, done, whole, whole, done)
    const statuses: number[] = []
    const received = await receivedBy(async () => {
      for (let call = 0; call < 4; call += 1) {
        const { status } = await gus.call('POST', '/v1/messages', {
          model: 'fake/effort',
          max_tokens: 3_000,
          messages: [{ role: 'user', content: 'Say hello.' }],
          thinking: { type: 'enabled', budget_tokens: 1_024 },
        })
        statuses.push(status)
      }
    })
    expect(statuses).toEqual([400, 200, 400, 200])
    expect(received.map(({ body }) => Object(body.reasoning).summary)).toEqual([
      'auto',
      'auto',
      'auto',
      undefined,
      'auto',
    ])
  })

  test('for no other error', async () => {
    fake.script('fake/sealed', json(400, { error: { message: 'No.', param: 'tools[0].type' } }))
    const [received, ...more] = await receivedBy(async () => {
      const { status, body } = await ask({ model: 'fake/sealed' })
      expect([status, body]).toMatchObject([
        400,
        { error: { message: expect.stringContaining('No.') } },
      ])
    })
    expect([received?.path, more]).toEqual(['/v1/responses', []])
  })

  test('with an uploaded file', async () => {
    const file = new File(['High water at noon.'], 'tides.txt', { type: 'text/plain' })
    const form = new FormData()
    form.set('file', file)
    form.set('purpose', 'user_data')
    const encoded = new Response(form)
    const type = encoded.headers.get('content-type') ?? ''
    const uploaded = await gus.call('POST', '/v1/files', await encoded.bytes(), {
      'content-type': type,
    })
    const content = [{ type: 'input_file', file_id: uploaded.text('id') }]
    const [received] = await receivedBy(() => ask({ input: [{ role: 'user', content }] }))
    expect([uploaded.status, received?.path]).toEqual([200, chat])
  })
})
