import { describe, expect, test } from 'bun:test'

import type { Json } from '../../kernel/schema.ts'
import { bare, call, decode, encode, image, name } from '../../testing/fixtures/responses-codec.ts'
import type { ChatRequest } from '../conversation/chat-request.ts'
import { responsesCodec } from './encode.ts'

/** A conversation with all that this API can say. */
const conversation: Partial<ChatRequest> = {
  messages: [
    { role: 'system', content: [{ type: 'text', text: 'Be brief.' }] },
    {
      role: 'user',
      content: [
        { type: 'text', text: '' },
        { type: 'image', source: { data: 'AAAA', mediaType: 'image/png' }, detail: 'low' },
        { type: 'file', source: { data: 'JVBE', mediaType: 'application/pdf' } },
        { type: 'audio', source: { data: 'AAAA', mediaType: 'audio/mpeg' } },
      ],
    },
    {
      role: 'assistant',
      content: [
        { type: 'thinking', text: 'Of Claude.', signature: 's', origin: 'messages' },
        { type: 'thinking', text: 'Unsigned.' },
        {
          type: 'thinking',
          text: 'Hm.',
          signature: 'gAAA',
          origin: 'responses',
          isEncrypted: true,
          id: 'rs_1',
        },
        { type: 'text', text: 'I look.' },
        { type: 'call', id: 'functions.f:0', name: 'depth', arguments: '' },
        { type: 'call', id: 'p', name: 'patch', arguments: '***', isCustom: true },
      ],
    },
    {
      role: 'tool',
      callId: 'functions.f:0',
      content: [
        { type: 'text', text: 'See.' },
        { type: 'image', source: { url: 'https://example.com/a.png' } },
      ],
    },
    {
      role: 'tool',
      callId: 'p',
      content: [{ type: 'text', text: 'No such file.' }],
      isError: true,
    },
  ],
  tools: [
    { name: 'depth', parameters: {} },
    {
      name: 'patch',
      isCustom: true,
      parameters: { type: 'grammar', grammar: { syntax: 'lark' } },
    },
  ],
  toolChoice: { mode: 'auto', names: ['depth', 'patch'] },
  isSerial: true,
  sampling: { temperature: 1, topP: 0.5, seed: 7 },
  stop: ['END'],
  reasoning: { budget: 2_000 },
  format: { type: 'schema', schema: { type: 'object' } },
  logprobs: 2,
  extra: { user: 'u', verbosity: 'low', logit_bias: { 1: 2 } },
}

const id = `call64_${Buffer.from('functions.f:0').toString('base64url')}`
const encoded = {
  model: 'gpt',
  input: [
    {
      type: 'message',
      role: 'system',
      content: [{ type: 'input_text', text: 'Be brief.' }],
    },
    {
      type: 'message',
      role: 'user',
      content: [
        { type: 'input_image', image_url: 'data:image/png;base64,AAAA', detail: 'low' },
        {
          type: 'input_file',
          filename: 'document.pdf',
          file_data: 'data:application/pdf;base64,JVBE',
        },
        { type: 'input_audio', input_audio: { data: 'AAAA', format: 'mp3' } },
      ],
    },
    {
      type: 'reasoning',
      id: 'rs_1',
      summary: [{ type: 'summary_text', text: 'Hm.' }],
      encrypted_content: 'gAAA',
    },
    {
      type: 'message',
      role: 'assistant',
      content: [{ type: 'output_text', text: 'I look.' }],
    },
    { type: 'function_call', call_id: id, name: 'depth', arguments: '{}' },
    { type: 'custom_tool_call', call_id: 'p', name: 'patch', input: '***' },
    {
      type: 'function_call_output',
      call_id: id,
      output: [
        { type: 'input_text', text: 'See.' },
        { type: 'input_image', image_url: 'https://example.com/a.png' },
      ],
    },
    { type: 'custom_tool_call_output', call_id: 'p', output: 'Error: No such file.' },
  ],
  tools: [
    {
      type: 'function',
      name: 'depth',
      parameters: { type: 'object', properties: {} },
      strict: false,
    },
    { type: 'custom', name: 'patch', format: { type: 'grammar', syntax: 'lark' } },
  ],
  tool_choice: {
    type: 'allowed_tools',
    mode: 'auto',
    tools: [
      { type: 'function', name: 'depth' },
      { type: 'custom', name: 'patch' },
    ],
  },
  parallel_tool_calls: false,
  temperature: 1,
  top_p: 0.5,
  reasoning: { effort: 'low' },
  text: {
    format: { type: 'json_schema', name: 'response', schema: { type: 'object' } },
    verbosity: 'low',
  },
  top_logprobs: 2,
  include: ['reasoning.encrypted_content', 'message.output_text.logprobs'],
  user: 'u',
  max_output_tokens: 500,
  stream: true,
  store: false,
}

describe('an upstream with this API', () => {
  test('gets a request of the API as it was sent, without what costs more', () => {
    const tools = [{ type: 'custom', name: 'apply_patch' }]
    const kept = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'gAAA' }
    const { request } = decode(
      {
        input: [
          { role: 'user', content: 'Go.' },
          { type: 'reasoning', id: `rs_${name}0`, summary: [], encrypted_content: 'gAAB' },
          { ...call, id: 'fc_1' },
          { type: 'function_call_output', call_id: 'a', output: 'nine' },
          { type: 'reasoning', summary: [], encrypted_content: 'berth.messages.sig' },
          kept,
          { role: 'assistant', content: 'So.', id: 'msg_1' },
        ],
        tools: [{ type: 'web_search' }, ...tools],
        reasoning: { effort: 'low', mode: 'pro' },
        truncation: 'auto',
        service_tier: 'flex',
        zebra: 1,
      },
      { canSearch: false },
    )
    expect(encode(request)).toEqual({
      input: [
        { role: 'user', content: 'Go.' },
        // OpenAI accepts encrypted reasoning under its own id, or without one.
        { type: 'reasoning', summary: [], encrypted_content: 'gAAB' },
        call,
        { type: 'function_call_output', call_id: 'a', output: 'nine' },
        kept,
        { role: 'assistant', content: 'So.' },
      ],
      tools,
      reasoning: { effort: 'low' },
      include: ['reasoning.encrypted_content'],
      truncation: 'auto',
      model: 'gpt',
      max_output_tokens: 500,
      store: false,
    })
    expect(responsesCodec.ignoredFields(request)).toEqual(['service_tier', 'zebra'])
  })

  test('gets images under the type of their content, and a schema for each function', () => {
    const wrong = image.replace('png', 'jpg')
    const { request } = decode({
      input: [
        { role: 'user', content: [{ type: 'input_image', image_url: wrong }] },
        call,
        {
          type: 'function_call_output',
          call_id: 'a',
          output: [{ type: 'input_image', image_url: wrong }],
        },
      ],
      tools: [{ type: 'function', name: 'depth', parameters: {} }],
    })
    const labelled = [{ type: 'input_image', image_url: image }]
    expect(encode(request)).toMatchObject({
      input: [{ content: labelled }, call, { output: labelled }],
      tools: [{ parameters: { type: 'object', properties: {} } }],
    })
  })

  test('gets ids of calls within its 64 characters', () => {
    const [long, args] = [`call_${'x'.repeat(90)}`, '{"at":1}']
    const part = { type: 'call', id: long, name: 'depth', arguments: args } as const
    const result = { role: 'tool', callId: long, content: [] } as const
    const messages = [
      { role: 'assistant' as const, content: [part] },
      { ...result, content: [] },
    ]
    const short = expect.stringMatching(/^call_\w{9}$/)
    const { input } = encode({ messages })
    expect(input).toMatchObject([{ call_id: short, arguments: args }, { call_id: short }])
    expect(Object(input)[0].call_id).toBe(Object(input)[1].call_id)
  })

  test('never gets a larger limit than is held, and none where it stops by itself', () => {
    expect(encode({ outputMax: 900 })).toMatchObject({ max_output_tokens: 500 })
    expect(encode({ outputMax: 50 })).toMatchObject({ max_output_tokens: 50 })
    expect(encode({}, { stopsItself: true })).not.toHaveProperty('max_output_tokens')
  })

  test('gets a conversation of any other API', () => {
    expect(encode(conversation, { isStream: true })).toEqual(encoded)
    const ignored = { stop: ['END'], sampling: { seed: 7 }, extra: { user: 'u', logit_bias: {} } }
    expect(responsesCodec.ignoredFields({ ...bare, ...ignored })).toEqual([
      'stop',
      'seed',
      'logit_bias',
    ])
  })

  test('gets a conversation of a Responses client again, after a change, without a loss', () => {
    const input = [
      { type: 'message', role: 'user', content: [{ type: 'input_image', image_url: image }] },
      {
        type: 'reasoning',
        id: 'rs_1',
        summary: [{ type: 'summary_text', text: 'Hm.' }],
        encrypted_content: 'gAAA',
      },
      call,
      {
        type: 'function_call_output',
        call_id: 'a',
        output: [{ type: 'input_image', image_url: image }],
      },
    ]
    const { raw: _, ...request } = decode({ input, reasoning: { effort: 'low' } }).request
    expect(encode(request)).toMatchObject({ input, include: ['reasoning.encrypted_content'] })
  })

  // The AI SDK and OpenAI's agents rely on stored items, and nothing is stored at the upstream.
  test('is asked for the encrypted form of reasoning by every request that may have some', () => {
    const encrypted = 'reasoning.encrypted_content'
    const rows: [string, Json, unknown][] = [
      ['gpt-5.5', {}, [encrypted]],
      ['openai/o3', { include: ['message.output_text.logprobs'] }, 'both'],
      ['gpt-5.5', { include: [encrypted] }, [encrypted]],
      ['gpt-4.1', { reasoning: { effort: 'low' } }, [encrypted]],
      ['gpt-4.1', {}, undefined],
      ['gpt-5-chat-latest', {}, undefined],
    ]
    for (const [model, more, include] of rows) {
      const { request } = decode({ input: 'x', ...more })
      const target = { model, isStream: false, outputMax: 1_000, stopsItself: false }
      const { body } = responsesCodec.encode(request, target)
      expect([model, body.include]).toEqual([
        model,
        include === 'both' ? ['message.output_text.logprobs', encrypted] : include,
      ])
      const { raw: _, ...written } = request
      const again = responsesCodec.encode(written, target)
      expect([again.body.include].flat().includes(encrypted)).toBe(include !== undefined)
    }
  })
})
