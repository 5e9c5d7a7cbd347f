import { describe, expect, test } from 'bun:test'

import { ApiError } from '../../kernel/errors.ts'
import { call, decode } from '../../testing/fixtures/responses-codec.ts'

const messagesOf = (...input: object[]) => decode({ input }).request.messages

describe('a request', () => {
  test('with items of the model in a row is one message, in their order', () => {
    expect(
      messagesOf(
        { role: 'developer', content: 'Be brief.' },
        { role: 'user', content: [{ type: 'input_text', text: 'Go.' }] },
        { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'gAAA' },
        {
          type: 'message',
          role: 'assistant',
          content: [
            { type: 'output_text', text: 'I look' },
            { type: 'output_text', text: '.' },
          ],
        },
        call,
        { ...call, call_id: 'b', arguments: '' },
        { type: 'function_call_output', call_id: 'a', output: 'nine' },
        { type: 'function_call_output', call_id: 'b', output: [{ type: 'input_text', text: 'x' }] },
      ),
    ).toEqual([
      { role: 'system', content: [{ type: 'text', text: 'Be brief.' }] },
      { role: 'user', content: [{ type: 'text', text: 'Go.' }] },
      {
        role: 'assistant',
        content: [
          {
            type: 'thinking',
            text: '',
            signature: 'gAAA',
            origin: 'responses',
            isEncrypted: true,
            id: 'rs_1',
          },
          { type: 'text', text: 'I look.' },
          { type: 'call', id: 'a', name: 'depth', arguments: '{}' },
          { type: 'call', id: 'b', name: 'depth', arguments: '{}' },
        ],
      },
      { role: 'tool', callId: 'a', content: [{ type: 'text', text: 'nine' }] },
      { role: 'tool', callId: 'b', content: [{ type: 'text', text: 'x' }] },
    ])
  })

  test('keeps images and files of a tool result, with types by their content', () => {
    const output = [
      { type: 'input_text', text: '' },
      { type: 'input_image', image_url: 'data:image/jpg;base64,iVBORw0KGgoAAAA=', detail: 'low' },
      { type: 'input_file', filename: 'a.pdf', file_data: 'JVBERi0x' },
      { type: 'input_file', file_id: 'file_1' },
    ]
    expect(messagesOf(call, { type: 'function_call_output', call_id: 'a', output })[1]).toEqual({
      role: 'tool',
      callId: 'a',
      content: [
        {
          type: 'image',
          source: { data: 'iVBORw0KGgoAAAA=', mediaType: 'image/png' },
          detail: 'low',
        },
        {
          type: 'file',
          source: { data: 'JVBERi0x', mediaType: 'application/pdf' },
          filename: 'a.pdf',
        },
        { type: 'file', source: { fileId: 'file_1' } },
      ],
    })
  })

  test('names custom tools, namespaces and the tool search by functions', () => {
    const { request, tools } = decode({
      tools: [
        { type: 'custom', name: 'apply_patch', description: 'Edits.' },
        { type: 'namespace', name: 'boat', tools: [{ type: 'function', name: 'depth' }] },
        { type: 'tool_search', parameters: { type: 'object' } },
        { type: 'web_search' },
      ],
      input: [
        { type: 'custom_tool_call', call_id: 'c', name: 'apply_patch', input: '*** Begin' },
        { type: 'custom_tool_call_output', call_id: 'c', output: 'patched' },
        { ...call, namespace: 'boat' },
        { type: 'tool_search_call', call_id: 's', arguments: { query: 'x' } },
        { type: 'tool_search_output', call_id: 's', tools: [{ type: 'function', name: 'wind' }] },
      ],
      tool_choice: {
        type: 'allowed_tools',
        mode: 'required',
        tools: [
          { type: 'custom', name: 'apply_patch' },
          { type: 'function', name: 'depth', namespace: 'boat' },
        ],
      },
    })
    expect(request.tools.map((tool) => tool.name)).toEqual([
      'apply_patch',
      'boat__depth',
      'tool_search',
      'wind',
    ])
    expect(tools.get('boat__depth')).toEqual({ type: 'function', name: 'depth', namespace: 'boat' })
    expect(request.messages).toMatchObject([
      { content: [{ name: 'apply_patch', arguments: '{"input":"*** Begin"}' }] },
      {},
      { content: [{ name: 'boat__depth' }, { name: 'tool_search', arguments: '{"query":"x"}' }] },
      { role: 'tool', callId: 's' },
    ])
    expect(request.toolChoice).toEqual({ mode: 'required', names: ['apply_patch', 'boat__depth'] })
  })

  test('has its options under the names of a chat', () => {
    const schema = { type: 'object', properties: {} }
    const { request, search, ignored } = decode({
      instructions: 'You know the water.',
      temperature: 0.5,
      top_p: 0.9,
      max_output_tokens: 77,
      parallel_tool_calls: false,
      prompt_cache_key: 'k',
      include: ['message.output_text.logprobs'],
      truncation: 'auto',
      tools: [{ type: 'function', name: 'depth', parameters: schema, strict: true }],
      tool_choice: { type: 'function', name: 'depth' },
      text: {
        format: { type: 'json_schema', name: 'boat', schema, strict: true },
        verbosity: 'low',
      },
      reasoning: { effort: 'low', summary: 'auto' },
    })
    expect(request).toMatchObject({
      messages: [{ role: 'system' }, { role: 'user' }],
      tools: [{ name: 'depth', parameters: schema, isStrict: true }],
      toolChoice: { mode: 'required', names: ['depth'] },
      isSerial: true,
      outputMax: 77,
      sampling: { temperature: 0.5, topP: 0.9 },
      reasoning: { effort: 'low', summary: 'auto' },
      format: { type: 'schema', name: 'boat', schema, isStrict: true },
      logprobs: 0,
      extra: { prompt_cache_key: 'k', verbosity: 'low' },
    })
    expect([search, ignored]).toEqual([false, { passed: [], written: ['truncation'] }])
    expect(decode({ tools: [{ type: 'web_search' }] }).search).toBe(true)
    expect(decode({ tools: [{ type: 'web_search' }] }, { canSearch: false }).search).toBe(false)
  })

  test('names items by their ids, thoughts among them, and goes on without lost thoughts', () => {
    const stored = {
      type: 'reasoning',
      id: 'rs_1',
      summary: [{ type: 'summary_text', text: 'Hm.' }],
    }
    const input = [
      { type: 'item_reference', id: 'rs_1' },
      { id: 'rs_gone' },
      { ...call },
      { type: 'function_call_output', call_id: 'a', output: 'nine' },
    ]
    const { request } = decode(
      { input },
      { findItem: (id) => (id === 'rs_1' ? stored : undefined) },
    )
    expect(request.messages[0]).toMatchObject({
      content: [{ type: 'thinking', text: 'Hm.', id: 'rs_1' }, { type: 'call' }],
    })
  })

  test('goes on from a stored conversation, which no upstream gets as it was sent', () => {
    const before = [{ role: 'user', content: 'First.' }]
    const { request, isStored } = decode(
      { previous_response_id: 'resp_1' },
      { canStore: true, before },
    )
    expect(request.messages).toHaveLength(2)
    expect([request.raw, isStored]).toEqual([undefined, true])
    expect(decode({ store: false }, { canStore: true }).request.raw?.api).toBe('responses')
    const content = [{ type: 'input_file', file_id: 'file_1' }]
    expect(decode({ input: [{ role: 'user', content }] }).request.raw).toBeUndefined()
  })

  const message = (content: unknown, role: unknown = 'user') => ({ input: [{ role, content }] })
  const part = (fields: object) => message([fields])
  const rejected: [body: object, param: string][] = [
    [{ store: true }, 'store'],
    [{ previous_response_id: 'resp_1' }, 'previous_response_id'],
    [{ conversation: 'conv_1' }, 'conversation'],
    [{ background: true }, 'background'],
    [{ stream: 'yes' }, 'stream'],
    [{ max_output_tokens: 0 }, 'max_output_tokens'],
    [{ tools: {} }, 'tools'],
    [{ tools: [{ type: 'file_search' }] }, 'tools'],
    [{ tool_choice: { type: 'file_search' } }, 'tool_choice'],
    [{ text: { format: { type: 'json_schema', name: 'a' } } }, 'text'],
    [{ reasoning: 'high' }, 'reasoning'],
    [{ service_tier: 'priority' }, 'service_tier'],
    [{ instructions: 7 }, 'instructions'],
    [{ input: [] }, 'input'],
    [{ input: [7] }, 'input'],
    [{ input: [{ type: 'item_reference', id: 'msg_1' }] }, 'input'],
    [{ input: [{ type: 'computer_call' }] }, 'input'],
    [{ input: [{ type: 'function_call', call_id: 'a', name: 'b' }] }, 'input'],
    [{ input: [{ type: 'function_call_output', call_id: 'a', output: 'b' }] }, 'input'],
    [message('x', 'tool'), 'input'],
    [message(7), 'input'],
    [part({ type: 'text', text: 'x' }), 'input'],
    [part({ type: 'input_image' }), 'input'],
    [part({ type: 'input_file', file_url: 'https://example.com/a.pdf' }), 'input'],
  ]
  test.each(rejected)('%j is rejected, naming %s', (body, param) => {
    expect(() => decode(body)).toThrow(
      expect.objectContaining({ details: [expect.objectContaining({ param })] }),
    )
  })

  test('without any text or media is rejected', () => {
    for (const input of ['', [{ role: 'user', content: '' }], [{ type: 'reasoning' }], [call]]) {
      expect(() => decode({ input })).toThrow(ApiError)
    }
  })
})
