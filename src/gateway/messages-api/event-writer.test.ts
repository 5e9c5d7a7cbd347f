import { expect, test } from 'bun:test'

import type { Json } from '../../kernel/schema.ts'
import { EventWriter } from './event-writer.ts'
import { toMessage } from './message.ts'

const options = { name: 'n', showsThinking: true, stopSequences: ['END'] }

function eventsOf(deltas: Json[], last: Json = { finish_reason: 'stop' }, more = options): Json[] {
  const writer = new EventWriter(more, 9)
  for (const delta of deltas) writer.read({ model: 'm', choices: [{ index: 0, delta }] })
  writer.read({ choices: [{ index: 0, delta: {}, ...last }] })
  writer.end()
  return writer.takeAll().slice(2)
}

const call = (index: number, more: Json): Json => ({ tool_calls: [{ index, ...more }] })

test('calls may be interleaved, and their names may arrive late', () => {
  const events = eventsOf(
    [
      { content: 'Two.' },
      call(0, { id: 'a', function: { name: 'one', arguments: '{"x"' } }),
      call(1, { id: 'b', function: { arguments: '{' } }),
      call(0, { function: { arguments: ':1}' } }),
      call(1, { function: { name: 'two', arguments: '}' } }),
    ],
    { finish_reason: 'tool_calls' },
  )
  const json = (index: number, partial_json: string): Json => ({
    type: 'content_block_delta',
    index,
    delta: { type: 'input_json_delta', partial_json },
  })
  const tool = (index: number, id: string, name: string): Json => ({
    type: 'content_block_start',
    index,
    content_block: { type: 'tool_use', id, name, input: {} },
  })
  expect(events.slice(3)).toEqual([
    tool(1, 'a', 'one'),
    json(1, '{"x"'),
    json(1, ':1}'),
    tool(2, 'b', 'two'),
    json(2, '{}'),
    { type: 'content_block_stop', index: 1 },
    { type: 'content_block_stop', index: 2 },
    expect.objectContaining({ delta: expect.objectContaining({ stop_reason: 'tool_use' }) }),
    { type: 'message_stop' },
  ])
})

test('thinking has its signature before the text, and encrypted thinking has its own block', () => {
  const deltas = [
    { reasoning_content: 'Hm.' },
    { reasoning_details: [{ signature: 'signed' }] },
    { reasoning_details: [{ data: 'secret' }] },
    { content: 'Yes.' },
  ]
  const types = (showsThinking: boolean) =>
    eventsOf(deltas, {}, { ...options, showsThinking }).map(({ type, delta, content_block }) => {
      const inner = Object(delta ?? content_block).type
      return inner ? `${String(type)} ${String(inner)}` : type
    })
  const shown = [
    'content_block_start thinking',
    'content_block_delta thinking_delta',
    'content_block_delta signature_delta',
    'content_block_stop',
    'content_block_start redacted_thinking',
    'content_block_stop',
    'content_block_start text',
    'content_block_delta text_delta',
    'content_block_stop',
    'message_delta',
    'message_stop',
  ]
  expect(types(true)).toEqual(shown)
  expect(types(false)).toEqual(shown.filter((one) => !one.includes('thinking_delta')))
})

test('the stop reason is the same, plain and streamed', () => {
  const reasons: [Json, Json, string][] = [
    [{ content: 'x' }, { finish_reason: 'stop' }, 'end_turn'],
    [{ content: 'x' }, { finish_reason: 'stop', stop_reason: 'END' }, 'stop_sequence'],
    [{ content: 'x' }, { finish_reason: 'stop', stop_reason: 128_009 }, 'end_turn'],
    [{ content: 'x' }, { finish_reason: 'length' }, 'max_tokens'],
    [{ refusal: 'No.' }, { finish_reason: 'stop' }, 'refusal'],
  ]
  for (const [message, last, stop_reason] of reasons) {
    const whole = toMessage({ choices: [{ message, ...last }] }, options)
    expect(whole).toMatchObject({ stop_reason, content: [{ type: 'text' }] })
    const event = eventsOf([message], last).find(({ type }) => type === 'message_delta')
    expect(event).toMatchObject({ delta: { stop_reason } })
  }
})

test('citations belong to the text, and arguments that are not JSON are passed on', () => {
  const page = { url: 'https://a.test', title: 'A' }
  const annotations = [{ type: 'url_citation', url_citation: page }]
  const citation = { type: 'web_search_result_location', ...page }
  const whole = toMessage(
    {
      choices: [
        {
          message: {
            content: 'x',
            annotations,
            tool_calls: [{ function: { name: 'one', arguments: 'oops' } }],
          },
        },
      ],
    },
    options,
  )
  expect(whole).toMatchObject({
    content: [
      { type: 'text', text: 'x', citations: [citation] },
      { type: 'tool_use', id: 'toolu_n0', name: 'one', input: { arguments: 'oops' } },
    ],
  })
  expect(eventsOf([{ content: 'x' }, { annotations }])[2]).toMatchObject({
    index: 0,
    delta: { type: 'citations_delta', citation },
  })
})

test('the usage excludes the cache from the input', () => {
  const usage = {
    prompt_tokens: 100,
    completion_tokens: 7,
    prompt_tokens_details: { cached_tokens: 60, cache_write_tokens: 30 },
    completion_tokens_details: { reasoning_tokens: 3 },
    cost: 0.5,
  }
  expect(toMessage({ choices: [], usage }, options).usage).toEqual({
    input_tokens: 10,
    cache_creation_input_tokens: 30,
    cache_read_input_tokens: 60,
    output_tokens: 7,
    output_tokens_details: { thinking_tokens: 3 },
    server_tool_use: null,
    cost: 0.5,
  })
})
