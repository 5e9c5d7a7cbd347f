import { expect, test } from 'bun:test'

import { ResponseWriter } from './response-writer.ts'

const start = { echo: {}, tools: new Map(), name: 'answer', created: 7, onItem() {} }

/** Returns the events of a stream with these deltas. */
async function writtenOf(...deltas: object[]) {
  const written = new ResponseWriter(start)
  for (const delta of deltas) written.read({ choices: [{ delta }] })
  const response = await written.finish()
  return { events: written.events.takeAll(), response }
}

const call = (name: string, sent: string, more: object = {}) => ({
  tool_calls: [{ ...more, function: { name, arguments: sent } }],
})
const calls = (...of: [string, string][]) =>
  of.map(([name, sent]) => ({ type: 'function_call', name, arguments: sent }))

test('interleaved calls are distinguished by index', async () => {
  const { response, events } = await writtenOf(
    call('depth', '', { index: 0, id: 'a' }),
    call('wind', '', { index: 1, id: 'b' }),
    { tool_calls: [{ index: 0, function: { arguments: '{"x"' } }] },
    { tool_calls: [{ index: 1, function: { arguments: '{}' } }] },
    { tool_calls: [{ index: 0, function: { arguments: ':1}' } }] },
  )
  expect(response.output).toMatchObject(calls(['depth', '{"x":1}'], ['wind', '{}']))
  const done = events.filter(({ type }) => type === 'response.function_call_arguments.done')
  expect(done).toMatchObject([
    { output_index: 0, arguments: '{"x":1}' },
    { output_index: 1, arguments: '{}' },
  ])
})

test('calls without an index are distinguished by id, and a missing id is generated', async () => {
  const { response } = await writtenOf(
    call('depth', '{}', { id: 'a' }),
    call('wind', '{}', { id: 'b' }),
  )
  expect(response.output).toMatchObject(calls(['depth', '{}'], ['wind', '{}']))
  const nameless = await writtenOf(call('depth', '{}'))
  expect(nameless.response.output).toMatchObject([
    { call_id: expect.stringMatching(/^call_answer0$/) },
  ])
})

test('a name or id in a later part belongs to its call', async () => {
  const { response, events } = await writtenOf(
    { tool_calls: [{ index: 0, id: 'a', function: { arguments: '' } }] },
    call('depth', '{}', { index: 0 }),
    call('wind', '{', { index: 1 }),
    { tool_calls: [{ index: 1, id: 'b', function: { arguments: '}' } }] },
  )
  const [depth, wind] = calls(['depth', '{}'], ['wind', '{}'])
  expect(response.output).toMatchObject([
    { ...depth, call_id: 'a' },
    { ...wind, call_id: 'b' },
  ])
  const added = events.filter(({ type }) => type === 'response.output_item.added')
  expect(added).toHaveLength(2)
})

test('a call closes the text before it, and `refusal` is a part of its own', async () => {
  const { response, events } = await writtenOf(
    { content: 'I look' },
    call('depth', '{}', { index: 0, id: 'a' }),
    { content: 'so' },
    { refusal: 'No.' },
  )
  expect(response.output).toMatchObject([
    { type: 'message', content: [{ type: 'output_text', text: 'I look' }] },
    { type: 'function_call' },
    { type: 'message', content: [{ text: 'so' }, { type: 'refusal', refusal: 'No.' }] },
  ])
  const added = events.filter(({ type }) => type === 'response.content_part.added')
  expect(added).toMatchObject([
    { output_index: 0, content_index: 0 },
    { output_index: 2, content_index: 0 },
    { output_index: 2, content_index: 1, part: { type: 'refusal', refusal: '' } },
  ])
})

test('a failed response has no items in progress', () => {
  const written = new ResponseWriter(start)
  written.read({ choices: [{ delta: { content: 'I loo' } }] })
  written.fail({ code: 'upstream_stream_error', message: 'It broke off.' })
  const { response } = written.events.takeAll().at(-1) ?? {}
  expect(response).toMatchObject({
    status: 'failed',
    output: [{ status: 'incomplete', content: [{ text: 'I loo' }] }],
  })
})

test('log probabilities are in each delta and in the whole part', async () => {
  const likely = (token: string) => ({ token, bytes: [1], logprob: -0.5 })
  const reported = (token: string) => ({ ...likely(token), top_logprobs: [likely(token)] })
  const chunk = (content: string, delta: object = { content }) => ({
    choices: [{ delta, logprobs: { content: [reported(content)], refusal: null } }],
  })
  const written = new ResponseWriter(start)
  written.read(chunk('Hm', { reasoning_content: 'Hm' }))
  for (const content of ['a', 'b']) written.read(chunk(content))
  const { output } = await written.finish()
  const whole = [reported('a'), reported('b')]
  expect(output).toMatchObject([
    { type: 'reasoning', summary: [{ type: 'summary_text', text: 'Hm' }] },
    { content: [{ type: 'output_text', text: 'ab', annotations: [], logprobs: whole }] },
  ])
  const events = written.events.takeAll()
  const of = (name: string) => events.filter(({ type }) => type === `response.output_text.${name}`)
  expect(of('delta').map(({ logprobs }) => logprobs)).toEqual([[reported('a')], [reported('b')]])
  expect(of('done')).toMatchObject([{ logprobs: whole }])
})

test('items are stored without reasoning, also when the client leaves', () => {
  const kept: object[] = []
  const written = new ResponseWriter({ ...start, onItem: (item) => void kept.push(item) })
  const deltas = [
    { reasoning_content: 'Hm.' },
    { content: 'One' },
    call('depth', '{}'),
    { content: 'Tw' },
  ]
  for (const delta of deltas) written.read({ choices: [{ delta }] })
  expect(kept).toMatchObject([{ id: 'msg_answer1', content: [{ text: 'One' }] }])
  written.leave()
  expect(kept.slice(1)).toMatchObject([
    ...calls(['depth', '{}']),
    { id: 'msg_answer3', status: 'incomplete', content: [{ text: 'Tw' }] },
  ])
})

test('an invalid usage counts as zero', async () => {
  const written = new ResponseWriter(start)
  written.read({ choices: [], usage: { prompt_tokens: -1, completion_tokens: '7' } })
  const { usage, created_at } = await written.finish()
  expect(usage).toMatchObject({ input_tokens: 0, output_tokens: 0, total_tokens: 0 })
  expect(created_at).toBe(7)
})
