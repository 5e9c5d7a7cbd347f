import { describe, expect, test } from 'bun:test'

import { call } from '../../testing/fixtures/responses-codec.ts'
import { type ChatEvent, gather } from '../conversation/chat-event.ts'
import { responsesCodec } from './encode.ts'

const choice = 0
const usage = {
  input_tokens: 11,
  input_tokens_details: { cached_tokens: 4 },
  output_tokens: 7,
  output_tokens_details: { reasoning_tokens: 2 },
  total_tokens: 18,
}
const message = {
  type: 'message',
  id: 'msg_1',
  role: 'assistant',
  content: [
    {
      type: 'output_text',
      text: 'Nine.',
      annotations: [
        {
          type: 'url_citation',
          url: 'https://a.example',
          title: 'A',
          start_index: 0,
          end_index: 4,
        },
      ],
      logprobs: [{ token: 'Nine.', logprob: -1, bytes: [], top_logprobs: [] }],
    },
  ],
}
const thought = {
  type: 'reasoning',
  id: 'rs_1',
  summary: [
    { type: 'summary_text', text: 'Hm.' },
    { type: 'summary_text', text: 'So.' },
  ],
  encrypted_content: 'gAAA',
}
const custom = { type: 'custom_tool_call', id: 'ctc_1', call_id: 'c', name: 'patch', input: '***' }
const response = {
  id: 'resp_1',
  created_at: 5,
  status: 'completed',
  output: [thought, message, { ...call, id: 'fc_1', arguments: '{"x":1}' }, custom],
  usage,
}

/** Returns the steps of a stream of an upstream. */
function read(...events: object[]): ChatEvent[] {
  const reader = responsesCodec.createReader()
  return events.flatMap((event) => reader.read(JSON.stringify(event)) ?? [])
}
const ended = { type: 'response.completed', response: { status: 'completed', usage } }

describe('a response of an upstream', () => {
  const steps: ChatEvent[] = [
    { type: 'start', id: 'resp_1', created: 5 },
    { type: 'thinking', choice, text: 'Hm.\n\nSo.' },
    {
      type: 'signature',
      choice,
      signature: 'gAAA',
      isEncrypted: true,
      origin: 'responses',
      id: 'rs_1',
    },
    {
      type: 'text',
      choice,
      text: 'Nine.',
      logprobs: [{ token: 'Nine.', logprob: -1, bytes: [], top_logprobs: [] }],
    },
    {
      type: 'citation',
      choice,
      citation: { url: 'https://a.example', title: 'A', start: 0, end: 4 },
    },
    { type: 'call', choice, call: 0, id: 'a', name: 'depth' },
    { type: 'arguments', choice, call: 0, text: '{"x":1}' },
    { type: 'call', choice, call: 1, id: 'c', name: 'patch', isCustom: true },
    { type: 'arguments', choice, call: 1, text: '***' },
    { type: 'end', choice, reason: 'calls' },
    {
      type: 'usage',
      usage: { prompt: 11, cached: 4, completion: 7, reasoning: 2, total: 18, isCorrected: false },
    },
    { type: 'done' },
  ]

  test('has all its content, whole', () => {
    expect(responsesCodec.readWhole(response)).toEqual(steps)
  })

  test('has the same content as a stream, in deltas or only in its last event', () => {
    const item = (type: string, at: number, one: object) => ({
      type: `response.output_item.${type}`,
      output_index: at,
      item: one,
    })
    const summary = 'response.reasoning_summary'
    const streamed = read(
      { type: 'response.created', response: { id: 'resp_1', created_at: 5 } },
      item('added', 0, { type: 'reasoning', id: 'rs_1', summary: [] }),
      { type: `${summary}_part.added`, item_id: 'rs_1', summary_index: 0 },
      { type: `${summary}_text.delta`, item_id: 'rs_1', delta: 'Hm.' },
      { type: `${summary}_part.added`, item_id: 'rs_1', summary_index: 1 },
      { type: `${summary}_text.delta`, item_id: 'rs_1', delta: 'So.' },
      item('done', 0, thought),
      item('added', 1, { type: 'message', id: 'msg_1' }),
      {
        type: 'response.output_text.delta',
        item_id: 'msg_1',
        delta: 'Nine.',
        logprobs: message.content[0]?.logprobs,
      },
      {
        type: 'response.output_text.annotation.added',
        item_id: 'msg_1',
        annotation: message.content[0]?.annotations[0],
      },
      item('done', 1, message),
      item('added', 2, { ...call, id: 'fc_1', arguments: '' }),
      item('added', 3, { ...custom, input: '' }),
      { type: 'response.custom_tool_call_input.delta', item_id: 'ctc_1', delta: '***' },
      // Some upstreams change the ids of items.
      {
        type: 'response.function_call_arguments.delta',
        item_id: 'other',
        output_index: 2,
        delta: '{"x":1}',
      },
      item('done', 2, { ...call, id: 'other', arguments: '{"x":1}' }),
      item('done', 3, custom),
      { type: 'response.completed', response },
    )
    expect(gather(streamed)).toEqual(gather(steps))
    expect(streamed.slice(-3)).toEqual(steps.slice(-3))
    const last = read(
      { type: 'response.created', response: { id: 'resp_1', created_at: 5 } },
      { type: 'response.completed', response },
    )
    expect(last).toEqual(steps)
  })

  test('has each text once, also without items or ids around it', () => {
    const loose = read(
      { type: 'response.output_text.delta', delta: 'Ni' },
      { type: 'response.output_text.delta', delta: 'ne.' },
      { type: 'response.output_item.done', item: message },
      ended,
    )
    expect(gather(loose).choices[0]?.content).toEqual([{ type: 'text', text: 'Nine.' }])
    const late = read({ type: 'response.output_item.done', output_index: 0, item: call }, ended)
    expect(gather(late).choices[0]?.content).toMatchObject([{ type: 'call', arguments: '{}' }])
  })

  test('without arguments calls with an empty object', () => {
    const empty = { ...call, arguments: '' }
    const { choices } = gather(responsesCodec.readWhole({ output: [empty], status: 'completed' }))
    expect(choices[0]?.content).toMatchObject([{ type: 'call', arguments: '{}' }])
  })

  test('ends with its reason', () => {
    const reasonOf = (reason: string) =>
      read({
        type: 'response.incomplete',
        response: { status: 'incomplete', incomplete_details: { reason } },
      })[0]
    expect(reasonOf('max_output_tokens')).toEqual({ type: 'end', choice, reason: 'length' })
    expect(reasonOf('content_filter')).toEqual({ type: 'end', choice, reason: 'filtered' })
    expect(read(ended)[0]).toEqual({ type: 'end', choice, reason: 'stop' })
  })

  test('that fails has its error, then only its usage', () => {
    const error = { code: 'server_error', message: 'No.' }
    const failure: ChatEvent = { type: 'error', error: { type: 'server_error', ...error } }
    const failed = { status: 'failed', error, usage }
    expect(read({ type: 'response.failed', response: failed })).toMatchObject([
      failure,
      { type: 'usage' },
    ])
    expect(responsesCodec.readWhole(failed).slice(1)).toMatchObject([failure, { type: 'usage' }])
    expect(read({ type: 'error', ...error, sequence_number: 3 })).toEqual([failure])
    expect(read({ error })).toEqual([failure])
  })

  test('that is no JSON of this API is unreadable, and a cut one has no end', () => {
    const reader = responsesCodec.createReader()
    expect(reader.read('<html>')).toBeUndefined()
    expect(reader.read('{"choices":[]}')).toBeUndefined()
    expect(reader.read('{"type":"response.zebra"}')).toEqual([])
    expect(reader.end()).toEqual([])
  })
})
