import { describe, expect, test } from 'bun:test'

import {
  final,
  jsonsOf,
  name,
  writerWith,
  written,
} from '../../testing/fixtures/responses-codec.ts'
import { type ChatEvent, gather } from '../conversation/chat-event.ts'
import type { ResponsesOptions } from './write.ts'

const choice = 0

describe('a client', () => {
  test('gets numbered events around each item, and the id of its model', async () => {
    const {
      sent,
      output,
      response: whole,
    } = await written([
      { type: 'start', created: 5 },
      { type: 'thinking', choice, text: 'Hm.' },
      { type: 'text', choice, text: 'I look.' },
      { type: 'call', choice, call: 0, id: 'functions.f:0', name: 'depth' },
      { type: 'arguments', choice, call: 0, text: '{}' },
      { type: 'end', choice, reason: 'calls' },
    ])
    expect(sent.map(({ sequence_number: number }) => number)).toEqual(sent.map((_, at) => at))
    expect(sent.map(({ type }) => String(type).slice('response.'.length))).toEqual([
      'created',
      'in_progress',
      'output_item.added',
      'reasoning_summary_part.added',
      'reasoning_summary_text.delta',
      'reasoning_summary_text.done',
      'reasoning_summary_part.done',
      'output_item.done',
      'output_item.added',
      'content_part.added',
      'output_text.delta',
      'output_text.done',
      'content_part.done',
      'output_item.done',
      'output_item.added',
      'function_call_arguments.delta',
      'function_call_arguments.done',
      'output_item.done',
      'completed',
    ])
    expect(whole).toMatchObject({
      id: `resp_${name}`,
      model: 'fake/ok',
      created_at: 5,
      status: 'completed',
      usage: {
        input_tokens: 11,
        input_tokens_details: { cached_tokens: 4, cache_write_tokens: 0 },
        output_tokens: 7,
        output_tokens_details: { reasoning_tokens: 2 },
        total_tokens: 18,
        cost: 1,
      },
    })
    expect(output).toMatchObject([
      { type: 'reasoning', summary: [{ text: 'Hm.' }] },
      { type: 'message', content: [{ type: 'output_text', text: 'I look.', annotations: [] }] },
      { type: 'function_call', name: 'depth', arguments: '{}' },
    ])
    expect(output[2].call_id).toMatch(/^call64_[\w-]+$/)
  })

  test('gets the same response whole', async () => {
    const events: ChatEvent[] = [
      { type: 'start', created: 5 },
      { type: 'thinking', choice, text: 'Hm.' },
      { type: 'signature', choice, signature: 's', origin: 'messages' },
      { type: 'text', choice, text: 'Tides.', logprobs: [{ token: 'Tides.', logprob: -1 }] },
      { type: 'citation', choice, citation: { url: 'https://a.example', title: 'A' } },
      { type: 'call', choice, call: 0, id: 'a', name: 'depth', signature: 'g' },
      { type: 'arguments', choice, call: 0, text: '{"x":1}' },
      { type: 'end', choice, reason: 'calls' },
    ]
    const { codec, items } = writerWith()
    const streamed = await written(events)
    expect(await codec.encode(gather(events), final)).toEqual(streamed.response)
    expect(items).toEqual(streamed.items)
    expect(items).toHaveLength(4)
  })

  test('gets interleaved calls apart, and the text of a custom tool', async () => {
    const tools: ResponsesOptions['tools'] = new Map([
      ['patch', { type: 'custom', name: 'patch' }],
      ['boat__depth', { type: 'function', name: 'depth', namespace: 'boat' }],
      ['tool_search', { type: 'tool_search', execution: 'client' }],
    ])
    const { output, sent } = await written(
      [
        { type: 'call', choice, call: 0, id: 'a', name: 'boat__depth' },
        { type: 'call', choice, call: 1, id: 'b', name: 'patch' },
        { type: 'call', choice, call: 2, id: 'c', name: 'tool_search' },
        { type: 'call', choice, call: 3, id: 'd', name: 'wind' },
        { type: 'arguments', choice, call: 0, text: '{"x"' },
        { type: 'arguments', choice, call: 1, text: '{"input":"***"}' },
        { type: 'arguments', choice, call: 2, text: '{"query":"x"}' },
        { type: 'arguments', choice, call: 0, text: ':1}' },
      ],
      { tools },
    )
    expect(output).toMatchObject([
      { type: 'function_call', name: 'depth', namespace: 'boat', arguments: '{"x":1}' },
      { type: 'custom_tool_call', name: 'patch', input: '***' },
      { type: 'tool_search_call', execution: 'client', arguments: { query: 'x' } },
      { type: 'function_call', name: 'wind', arguments: '{}' },
    ])
    expect(sent.filter(({ type }) => String(type).includes('custom'))).toMatchObject([
      { type: 'response.custom_tool_call_input.delta', delta: '***' },
      { type: 'response.custom_tool_call_input.done', input: '***' },
    ])
  })

  test('gets citations and log probabilities with the text', async () => {
    const likely = { token: 'a', logprob: -0.5 }
    const { output } = await written([
      { type: 'text', choice, text: 'Tides.', logprobs: [{ ...likely, top_logprobs: [likely] }] },
      { type: 'citation', choice, citation: { url: 'https://a.example', title: 'A' } },
      { type: 'refusal', choice, text: 'No.' },
    ])
    const token = { ...likely, bytes: [] }
    expect(output).toMatchObject([
      {
        content: [
          {
            annotations: [
              { type: 'url_citation', url: 'https://a.example', start_index: 0, end_index: 6 },
            ],
            logprobs: [{ ...token, top_logprobs: [token] }],
          },
          { type: 'refusal', refusal: 'No.' },
        ],
      },
    ])
  })

  test('learns that a response was cut, or failed, with no item in progress', async () => {
    const events: ChatEvent[] = [{ type: 'text', choice, text: 'I loo' }]
    const cut = await written([...events, { type: 'end', choice, reason: 'length' }])
    expect(cut.response).toMatchObject({
      status: 'incomplete',
      incomplete_details: { reason: 'max_output_tokens' },
      output: [{ status: 'incomplete' }],
    })
    const { codec } = writerWith()
    const writer = codec.createWriter()
    writer.write(events)
    const error = { message: 'It broke off.', type: 'api_error', code: 'upstream_stream_error' }
    expect(jsonsOf(writer.fail(error, final))).toMatchObject([
      { type: 'error', code: 'upstream_stream_error', message: 'It broke off.', param: null },
      {
        type: 'response.failed',
        response: { status: 'failed', output: [{ status: 'incomplete' }], usage: { cost: 1 } },
      },
    ])
  })

  test('that leaves may still name its items', () => {
    const { codec, items } = writerWith()
    const writer = codec.createWriter()
    writer.write([{ type: 'text', choice, text: 'Tw' }])
    writer.leave?.()
    expect(items).toMatchObject([{ status: 'incomplete', content: [{ text: 'Tw' }] }])
  })

  test('gets its last event when the response is stored', async () => {
    const order: string[] = []
    const { response: whole } = await written([{ type: 'text', choice, text: 'One' }], {
      onFinish: async () => void order.push('shared'),
      async store({ status }) {
        order.push(String(status))
        return false
      },
    })
    expect(order).toEqual(['shared', 'completed'])
    expect(whole.store).toBe(false)
  })
})
