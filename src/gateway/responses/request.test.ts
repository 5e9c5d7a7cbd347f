import { afterAll, expect, test } from 'bun:test'

import { fakeModel, startFakeUpstreamServer } from '../../testing/fixtures/fake-upstream-server.ts'

const faked = await startFakeUpstreamServer({}, [
  {
    ...fakeModel('ok', { id: 'fake/seeing', inputs: ['text', 'image', 'file', 'audio'] }),
    offers: fakeModel('ok').offers,
  },
])
const gus = await faked.gus()
afterAll(() => faked.close())

const ask = (body: object) =>
  gus.call('POST', '/v1/responses', { model: 'fake/seeing', input: 'Hello.', ...body })

/** Returns the upstream body of a request. */
async function sent(body: object): Promise<unknown> {
  expect((await ask(body)).status).toBe(200)
  return faked.fake.received.at(-1)?.body
}

const call = (id: string) => ({
  type: 'function_call',
  id: `fc_${id}`,
  call_id: id,
  name: 'depth',
  arguments: '{}',
})
const called = (id: string) => ({
  id,
  type: 'function',
  function: { name: 'depth', arguments: '{}' },
})
const image = 'data:image/png;base64,AAAA'

test('items become messages, parallel calls one of them', async () => {
  const input = [
    { role: 'developer', content: 'Be brief.' },
    {
      type: 'message',
      role: 'user',
      content: [
        { type: 'input_text', text: 'What is this?' },
        { type: 'input_image', image_url: image, detail: 'low' },
        { type: 'input_file', filename: 'a.txt', file_data: 'data:text/plain;base64,QQ==' },
        { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } },
      ],
    },
    { type: 'reasoning', id: 'rs_1', summary: [] },
    { type: 'item_reference', id: 'rs_2' },
    {
      type: 'message',
      id: 'msg_1',
      role: 'assistant',
      status: 'completed',
      content: [
        { type: 'output_text', text: 'I look', annotations: [] },
        { type: 'output_text', text: '.', annotations: [] },
      ],
    },
    call('a'),
    call('b'),
    { type: 'function_call_output', call_id: 'a', output: 'nine' },
    { type: 'function_call_output', call_id: 'b', output: [{ type: 'input_text', text: 'ten' }] },
    call('c'),
    { role: 'assistant', content: 'once more' },
    { type: 'function_call_output', call_id: 'c', output: 'eleven' },
  ]
  expect(await sent({ instructions: 'You know the water.', input })).toMatchObject({
    messages: [
      { role: 'system', content: 'You know the water.' },
      { role: 'system', content: 'Be brief.' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'What is this?' },
          { type: 'image_url', image_url: { url: image, detail: 'low' } },
          { type: 'file', file: { file_data: 'data:text/plain;base64,QQ==', filename: 'a.txt' } },
          { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } },
        ],
      },
      { role: 'assistant', content: 'I look.', tool_calls: [called('a'), called('b')] },
      { role: 'tool', tool_call_id: 'a', content: 'nine' },
      { role: 'tool', tool_call_id: 'b', content: 'ten' },
      { role: 'assistant', content: 'once more', tool_calls: [called('c')] },
      { role: 'tool', tool_call_id: 'c', content: 'eleven' },
    ],
  })
})

test('options become chat fields; unknown ones are dropped', async () => {
  const schema = { type: 'object', properties: {} }
  const body = await sent({
    temperature: 0.5,
    top_p: 0.9,
    max_output_tokens: 77,
    parallel_tool_calls: false,
    store: false,
    previous_response_id: null,
    include: ['reasoning.encrypted_content'],
    metadata: { a: 'b' },
    truncation: 'auto',
    prompt_cache_key: 'k',
    tools: [{ type: 'function', name: 'depth', parameters: schema, strict: true }],
    tool_choice: { type: 'function', name: 'depth' },
    text: { format: { type: 'json_schema', name: 'boat', schema, strict: true } },
    reasoning: { effort: 'low', summary: 'auto' },
  })
  expect(body).toEqual({
    model: 'fake/ok',
    temperature: 0.5,
    top_p: 0.9,
    max_tokens: 77,
    parallel_tool_calls: false,
    prompt_cache_key: 'k',
    reasoning_effort: 'low',
    messages: [{ role: 'user', content: 'Hello.' }],
    tools: [{ type: 'function', function: { name: 'depth', parameters: schema, strict: true } }],
    tool_choice: { type: 'function', function: { name: 'depth' } },
    response_format: { type: 'json_schema', json_schema: { name: 'boat', schema, strict: true } },
  })
  expect(await sent({ text: { format: { type: 'json_object' }, verbosity: 'low' } })).toMatchObject(
    { response_format: { type: 'json_object' }, verbosity: 'low' },
  )
  expect(await sent({ tool_choice: 'required', models: ['fake/ok'], stream: null })).toMatchObject({
    tool_choice: 'required',
  })
})

test('log probabilities are requested by include or by top_logprobs', async () => {
  const include = ['reasoning.encrypted_content', 'message.output_text.logprobs']
  expect(await sent({ include })).toMatchObject({ logprobs: true })
  expect(await sent({ include, top_logprobs: 3 })).toMatchObject({
    logprobs: true,
    top_logprobs: 3,
  })
  expect(await sent({ top_logprobs: 2 })).toMatchObject({ logprobs: true, top_logprobs: 2 })
  expect(await sent({ top_logprobs: 0 })).not.toHaveProperty('logprobs')
})

const message = (content: unknown, role: unknown = 'user') => ({ input: [{ role, content }] })
const part = (fields: object) => message([fields])

const rejected: [body: object, param: string][] = [
  [{ store: true }, 'store'],
  [{ previous_response_id: 'resp_1' }, 'previous_response_id'],
  [{ conversation: 'conv_1' }, 'conversation'],
  [{ background: true }, 'background'],
  [{ prompt: { id: 'p' } }, 'prompt'],
  [{ stream: 'yes' }, 'stream'],
  [{ max_output_tokens: 0 }, 'max_output_tokens'],
  [{ max_output_tokens: '9' }, 'max_output_tokens'],
  [{ tools: {} }, 'tools'],
  [{ tools: [{ type: 'file_search' }] }, 'tools'],
  [{ tools: [{ type: 'function' }] }, 'tools'],
  [{ tools: [{ type: 'custom' }] }, 'tools'],
  [{ tools: [{ type: 'namespace', tools: [] }] }, 'tools'],
  [{ tools: [{ type: 'namespace', name: 'a', tools: 7 }] }, 'tools'],
  [{ tool_choice: { type: 'file_search' } }, 'tool_choice'],
  [{ text: 'json' }, 'text'],
  [{ text: { format: { type: 'json_schema', name: 'a' } } }, 'text'],
  [{ reasoning: 'high' }, 'reasoning'],
  [{ instructions: 7 }, 'instructions'],
  [{ input: undefined }, 'input'],
  [{ input: '' }, 'input'],
  [{ input: [] }, 'input'],
  [{ input: [7] }, 'input'],
  [{ input: [{ type: 'item_reference', id: 'msg_1' }] }, 'input'],
  [{ input: [{ type: 'computer_call' }] }, 'input'],
  [{ input: [{ type: 'function_call', call_id: 'a', name: 'b' }] }, 'input'],
  [{ input: [{ type: 'function_call_output', call_id: 'a', output: 'b' }] }, 'input'],
  [{ input: [{ type: 'custom_tool_call', call_id: 'a', name: 'b' }] }, 'input'],
  [{ input: [{ type: 'custom_tool_call_output', call_id: 'a', output: 'b' }] }, 'input'],
  [{ input: [{ type: 'tool_search_call' }] }, 'input'],
  [{ input: [{ type: 'tool_search_output', call_id: 'a', tools: [] }] }, 'input'],
  [message('x', 'tool'), 'input'],
  [message(7), 'input'],
  [part({ type: 'text', text: 'x' }), 'input'],
  [part({ type: 'input_text' }), 'input'],
  [part({ type: 'input_image' }), 'input'],
  [part({ type: 'input_file', file_url: 'http://127.0.0.1/' }), 'input'],
  [message([null]), 'input'],
  [{ model: 'fake/ok', ...part({ type: 'input_image', image_url: image }) }, 'input'],
]

test.each(rejected)('%j is rejected, naming %s, before anything is held', async (body, param) => {
  const [before, kept] = [faked.fake.received.length, await faked.snapshot()]
  const response = await ask(body)
  expect([response.status, Object(response.body).error]).toMatchObject([
    400,
    { type: 'invalid_request_error', param },
  ])
  expect(faked.fake.received).toHaveLength(before)
  expect(await faked.snapshot()).toEqual(kept)
})

test('errors of the chat are passed on: model, key, credits', async () => {
  expect(await ask({ model: 'no/such' })).toMatchObject({ status: 404, code: 'model_not_found' })
  const stranger = await faked.request('POST', '/responses', { key: 'gk_no', body: { input: 7 } })
  expect([stranger.status, stranger.code]).toEqual([401, 'invalid_api_key'])
  const poor = await faked.gus('0')
  const broke = await poor.call('POST', '/responses', { model: 'fake/ok', input: 'Hello.' })
  expect([broke.status, broke.code]).toEqual([402, 'insufficient_quota'])
})

test('fields without an effect are named in a header', async () => {
  const more = { zebra: 1, truncation: 'auto', max_tool_calls: 3, background: false, user: 'u' }
  for (const stream of [false, true]) {
    const { headers } = await ask({ ...more, stream })
    expect(headers.get('x-ignored-fields')).toBe('zebra, truncation, max_tool_calls')
  }
  expect((await ask({ truncation: 'disabled' })).headers.has('x-ignored-fields')).toBe(false)
})
