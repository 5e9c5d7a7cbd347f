/** One topic: a response on its way from an upstream to a client, as one table of faults. */
import { describe, expect, test } from 'bun:test'

import type { Json } from '../../kernel/schema.ts'
import { type ChatEvent, gather } from '../conversation/chat-event.ts'
import { encodeEvent, eventOf, EventReader } from '../events.ts'
import { createUsage, readUsage } from '../models/usage.ts'
import { decodeChat } from './decode.ts'
import type { ChatWriterOptions } from './message.ts'
import { createChatReader, readWholeChat } from './read.ts'
import { createChatClient } from './write.ts'

const user = (content: unknown) => ({ role: 'user', content })
const fn = (id: string, name: string, args: unknown = '{}') => ({
  id,
  type: 'function',
  function: { name, arguments: args },
})

const chunk = (delta: object, finish_reason: string | null = null, more: object = {}) => ({
  id: 'c',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'upstream-m',
  choices: [{ index: 0, delta, finish_reason }],
  ...more,
})
const piece = (
  index: number | undefined,
  id: string | undefined,
  name: string | undefined,
  args: unknown = '',
) => ({
  ...(index !== undefined && { index }),
  ...(id !== undefined && { id }),
  type: 'function',
  function: { ...(name !== undefined && { name }), arguments: args },
})

/** Reads chunks and [DONE]. */
const readAll = (...chunks: object[]): ChatEvent[] => {
  const reader = createChatReader()
  return [...chunks.map((one) => JSON.stringify(one)), '[DONE]'].flatMap(
    (data) => reader.read(data) ?? [],
  )
}
const callsOf = (events: ChatEvent[]) =>
  gather(events).choices[0]?.content.flatMap((part) =>
    part.type === 'call' ? [[part.id, part.name, part.arguments]] : [],
  )

describe('tool calls of a stream are told apart', () => {
  const both = [
    ['a', 'f', '{"a":1}'],
    ['b', 'f', '{"a":2}'],
  ]
  const rows: [name: string, chunks: object[][]][] = [
    [
      'with indices',
      [
        [piece(0, 'a', 'f', '{"a"'), piece(1, 'b', 'f')],
        [piece(0, undefined, undefined, ':1}')],
        [piece(1, undefined, undefined, '{"a":2}')],
      ],
    ],
    [
      'without indices',
      [[piece(undefined, 'a', 'f', '{"a":1}'), piece(undefined, 'b', 'f', '{"a":2}')]],
    ],
    ['at the same index', [[piece(0, 'a', 'f', '{"a":1}')], [piece(0, 'b', 'f', '{"a":2}')]]],
    [
      'with indices as text',
      [
        [{ ...piece(undefined, 'a', 'f', '{"a"'), index: '0' }],
        [{ ...piece(undefined, 'b', 'f', '{"a"'), index: '1' }],
        [{ ...piece(undefined, undefined, undefined, ':1}'), index: '0' }],
        [{ ...piece(undefined, undefined, undefined, ':2}'), index: '1' }],
      ],
    ],
    ['counted from 1', [[piece(1, 'a', 'f', '{"a":1}')], [piece(2, 'b', 'f', '{"a":2}')]]],
    [
      'with names behind the arguments',
      [
        [piece(0, 'a', undefined, '{"a"')],
        [piece(0, '', 'f', ':1}')],
        [piece(1, 'b', 'f', { a: 2 })],
      ],
    ],
    [
      'with everything in each piece',
      [[piece(0, 'a', 'f', '{"a"')], [piece(0, 'a', 'f', ':1}')], [piece(1, 'b', 'f', '{"a":2}')]],
    ],
  ]
  test.each(rows)('%s', (_name, chunks) => {
    expect(callsOf(readAll(...chunks.map((tool_calls) => chunk({ tool_calls }))))).toEqual(both)
  })

  test.each(rows)('%s, and passed to a client of OpenAI’s API', async (_name, chunks) => {
    const text = await passed(chunks.map((tool_calls) => chunk({ tool_calls })))
    const pieces = dataOf(text).flatMap((one) => Object(one).choices[0]?.delta.tool_calls ?? [])
    const calls: Json[] = []
    for (const { index, id, function: called } of pieces) {
      calls[index] ??= { id, name: called.name, arguments: '' }
      calls[index].arguments += called.arguments
    }
    expect(calls.map((call) => Object.values(call))).toEqual(both)
  })

  test('in messages that a server streams in place of deltas', () => {
    const pieces = [
      piece(0, 'a', 'f', '{"a"'),
      piece(1, 'b', 'f', '{"a"'),
      piece(0, undefined, undefined, ':1}'),
      piece(1, undefined, undefined, ':2}'),
    ]
    const chunks = pieces.map((one) => ({
      choices: [{ index: 0, message: { tool_calls: [one] }, finish_reason: null }],
    }))
    expect(callsOf(readAll(...chunks))).toEqual(both)
  })

  test('of a whole message with equal ids and indices', () => {
    for (const index of [undefined, 0]) {
      const tool_calls = [piece(index, 'a', 'f', '{"a":1}'), piece(index, 'a', 'f', '{"a":2}')]
      const calls = callsOf(readWholeChat({ choices: [{ message: { tool_calls } }] })) ?? []
      expect(calls.map(([, ...call]) => call)).toEqual(both.map(([, ...call]) => call))
    }
  })

  test('without ids, which are made', () => {
    const events = readAll(
      chunk({ tool_calls: [piece(0, undefined, 'f', '{}')] }),
      chunk({ tool_calls: [piece(0, undefined, 'g')] }),
    )
    const calls = callsOf(events) ?? []
    expect(calls.map(([, ...call]) => call)).toEqual([
      ['f', '{}'],
      ['g', '{}'],
    ])
    expect(new Set(calls.map(([id]) => id)).size).toBe(2)
    for (const [id] of calls) expect(id).toMatch(/^call_\w{12}$/)
  })

  test('with a function_call, or as custom calls', () => {
    expect(
      callsOf(
        readAll(
          chunk({ function_call: { name: 'f', arguments: '{' } }),
          chunk({ function_call: { arguments: '}' } }, 'function_call'),
        ),
      )?.[0]?.slice(1),
    ).toEqual(['f', '{}'])
    const custom = { index: 0, id: 'a', type: 'custom', custom: { name: 'f', input: 'x' } }
    expect(callsOf(readAll(chunk({ tool_calls: [custom] })))).toEqual([['a', 'f', 'x']])
  })

  test('with Google’s signature, also in OpenRouter’s form', () => {
    const signature = { extra_content: { google: { thought_signature: 'G' } } }
    const detail = { type: 'reasoning.encrypted', data: 'G', id: 'a', format: 'google-gemini-v1' }
    for (const delta of [
      { tool_calls: [{ ...piece(0, 'a', 'f', '{}'), ...signature }] },
      { reasoning_details: [detail], tool_calls: [piece(0, 'a', 'f', '{}')] },
    ]) {
      expect(gather(readAll(chunk(delta))).choices[0]?.content).toMatchObject([
        { type: 'call', signature: 'G' },
      ])
    }
  })
})

describe('a response', () => {
  const textsOf = (events: ChatEvent[], type: string) =>
    events.flatMap((event) => (event.type === type && 'text' in event ? [event.text] : []))

  test('has its thinking once, whatever its fields are called', () => {
    const detail = { type: 'reasoning.text', text: 'hm', index: 0 }
    const rows = [
      { reasoning_content: 'hm' },
      { reasoning: 'hm' },
      { reasoning: 'hm', reasoning_content: 'hm' },
      { reasoning: 'hm', reasoning_details: [detail] },
      { reasoning_details: [detail] },
      { content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'hm' }] }] },
    ]
    for (const delta of rows) expect(textsOf(readAll(chunk(delta)), 'thinking')).toEqual(['hm'])
    const own = {
      type: 'reasoning.text',
      text: 'hm',
      signature: 'S',
      format: 'anthropic-claude-v1',
    }
    const events = readAll(chunk({ reasoning_content: 'hm' }), chunk({ reasoning_details: [own] }))
    expect(gather(events).choices[0]?.content).toEqual([
      { type: 'thinking', text: 'hm', signature: 'S', origin: 'messages' },
    ])
  })

  test('has its usage wherever the upstream puts it', () => {
    const usage = { prompt_tokens: 9, completion_tokens: 2 }
    const rows = [
      { choices: [], usage },
      { choices: [{ index: 0, delta: {}, usage }] },
      { choices: [], x_groq: { usage } },
      { choices: [], timings: { prompt_n: 5, cache_n: 4, predicted_n: 2 } },
      { prompt_eval_count: 9, eval_count: 2 },
    ]
    for (const row of rows) {
      expect(readAll(row).find(({ type }) => type === 'usage')).toMatchObject({
        usage: { prompt: 9, completion: 2 },
      })
    }
  })

  test('ends with its reason', () => {
    const endOf = (finish: string, more = {}) =>
      readAll({ choices: [{ index: 0, delta: {}, finish_reason: finish, ...more }] }).find(
        ({ type }) => type === 'end',
      )
    expect(endOf('content_filter')).toMatchObject({ reason: 'filtered' })
    expect(endOf('length')).toMatchObject({ reason: 'length' })
    expect(endOf('function_call')).toMatchObject({ reason: 'calls' })
    expect(endOf('eos')).toMatchObject({ reason: 'stop' })
    expect(endOf('stop', { stop_reason: 'END' })).toMatchObject({ reason: 'stop', stop: 'END' })
  })

  test('has words of a model that declined, logprobs, audio and citations', () => {
    const cited = {
      type: 'url_citation',
      url_citation: { url: 'https://a.example', title: 'A', start_index: 1, end_index: 2 },
    }
    const token = { token: 'Hi', logprob: 0 }
    const events = readAll(
      {
        choices: [
          {
            index: 0,
            delta: { content: 'Hi', annotations: [cited] },
            logprobs: { content: [token] },
          },
        ],
      },
      chunk({ refusal: 'No.', audio: { transcript: 'Ahoy' } }),
    )
    expect(events).toContainEqual({ type: 'text', choice: 0, text: 'Hi', logprobs: [token] })
    expect(events).toContainEqual({
      type: 'citation',
      choice: 0,
      citation: { url: 'https://a.example', title: 'A', start: 1, end: 2 },
    })
    expect(textsOf(events, 'refusal')).toEqual(['No.'])
    expect(textsOf(events, 'audio')).toEqual(['Ahoy'])
  })

  test('fails with the upstream’s error, and then has a usage at most', () => {
    const reader = createChatReader()
    const error = { message: 'Broken.', code: 500 }
    expect(reader.read(JSON.stringify({ error }))).toEqual([{ type: 'error', error }])
    expect(reader.read(JSON.stringify(chunk({ content: 'x' })))).toEqual([])
    expect(reader.read(JSON.stringify({ choices: [], usage: { prompt_tokens: 1 } }))).toMatchObject(
      [{ type: 'usage' }],
    )
    expect(reader.read('[DONE]')).toEqual([])
    expect(createChatReader().read('{"id": ')).toBeUndefined()
    expect(readWholeChat({ error })).toEqual([{ type: 'error', error }])
  })

  test('is read the same whole, streamed, and whole in a stream', () => {
    const message = {
      role: 'assistant',
      content: 'Hi',
      reasoning_content: 'Hm.',
      tool_calls: [fn('a', 'f')],
    }
    const whole = {
      ...chunk({}),
      object: 'chat.completion',
      choices: [{ index: 0, message, finish_reason: 'tool_calls' }],
    }
    const streamed = readAll(
      chunk({ reasoning_content: 'Hm.' }),
      chunk({ content: 'Hi' }),
      chunk({ tool_calls: [piece(0, 'a', 'f', '{}')] }),
      chunk({}, 'tool_calls'),
    )
    expect(gather(readAll(whole))).toEqual(gather(readWholeChat(whole)))
    expect(gather(streamed)).toEqual(gather(readWholeChat(whole)))
    expect(readWholeChat(whole).at(-1)).toEqual({ type: 'done' })
  })
})

const options: ChatWriterOptions = {
  model: 'a/b',
  id: 'chatcmpl-1',
  created: 7,
  wantsUsage: true,
  flavor: 'openai',
}
const final = { usage: createUsage({ prompt: 9, completion: 2 }), cost: 0.5 }
const dataOf = (text: string): Json[] =>
  [...text.matchAll(/^data: (\{.*)$/gm)].map(([, data = '']) => JSON.parse(data))

/** Passes chunks and [DONE] of an upstream to a client. */
async function passed(
  chunks: (object | string)[],
  more: Partial<ChatWriterOptions> = {},
): Promise<string> {
  const writer = createChatClient({ ...options, ...more }).createWriter()
  const reader = createChatReader()
  const bytes = chunks.map((one) => (typeof one === 'string' ? Buffer.from(one) : encodeEvent(one)))
  const events = new EventReader(10_000).push(
    Buffer.concat([...bytes, Buffer.from('data: [DONE]\n\n')]),
  )
  const parts = events.flatMap((own) => {
    const sent = writer.pass(own, own.data === undefined ? [] : (reader.read(own.data) ?? []))
    return sent ? [sent.bytes.slice(sent.start, sent.end)] : []
  })
  return Buffer.concat([...parts, await writer.end(final)]).toString()
}
async function wrote(events: ChatEvent[], more: Partial<ChatWriterOptions> = {}): Promise<string> {
  const writer = createChatClient({ ...options, ...more }).createWriter()
  const parts = events.map((event) => writer.write([event]))
  return Buffer.concat([...parts, await writer.end(final)]).toString()
}

describe('a stream that is passed on', () => {
  const usage = { prompt_tokens: 9, completion_tokens: 2, cost: 3, own: 1 }
  const tail = chunk({}, null, { choices: [], usage })

  test('has the bytes of the upstream, then the usage with its cost', async () => {
    const body = [': wait\n\n', 'data:  {"choices": [{"index":0,"delta":{"content":"a"}}]}\n\n']
    expect(await passed([...body, tail])).toBe(
      `${body.join('')}data: ${JSON.stringify({ ...tail, model: 'a/b', usage: { prompt_tokens: 9, completion_tokens: 2, own: 1, cost: 0.5 } })}\n\ndata: [DONE]\n\n`,
    )
    expect(await passed([...body, tail], { wantsUsage: false })).toBe(
      `${body.join('')}data: [DONE]\n\n`,
    )
  })

  test('has the id that was asked for as its model', async () => {
    const text = await passed([chunk({ content: 'a' })], { wantsUsage: false })
    expect(dataOf(text)).toEqual([{ ...chunk({ content: 'a' }), model: 'a/b' }])
    const same = chunk({ content: 'a' }, null, { model: 'a/b' })
    expect(await passed([same], { wantsUsage: false })).toBe(
      `data: ${JSON.stringify(same)}\n\ndata: [DONE]\n\n`,
    )
  })

  test('has one function_call for a client with functions', async () => {
    const text = await passed(
      [
        chunk({ tool_calls: [piece(0, 'a', 'f', '{}')] }),
        chunk({ tool_calls: [piece(1, 'b', 'g', '{}')] }),
        chunk({}, 'tool_calls'),
      ],
      { hasFunctions: true, wantsUsage: false },
    )
    expect(
      dataOf(text).map((one) => [
        Object(one).choices[0].delta,
        Object(one).choices[0].finish_reason,
      ]),
    ).toEqual([
      [{ function_call: { name: 'f', arguments: '{}' } }, null],
      [expect.not.objectContaining({ function_call: expect.anything() }), null],
      [{}, 'function_call'],
    ])
  })

  test('has its thinking where Mistral’s client reads it, written or passed', async () => {
    const thought = [{ type: 'thinking', thinking: [{ type: 'text', text: 'Hm.' }] }]
    const sent = [
      chunk({ content: thought }),
      chunk({ reasoning_content: 'Hm.' }),
      chunk({ reasoning: 'Hm.', content: 'Hi' }),
      chunk({ content: 'Hi' }),
    ]
    const own = { flavor: 'mistral' } as const
    const deltas = (text: string) =>
      dataOf(text).flatMap((one) => Object(one).choices.map(({ delta }: Json) => delta))
    const hi = { type: 'text', text: 'Hi' }
    expect(deltas(await passed(sent, own))).toEqual([
      { content: thought },
      { content: thought },
      { content: [...thought, hi] },
      { content: 'Hi' },
    ])
    const events: ChatEvent[] = [
      { type: 'thinking', choice: 0, text: 'Hm.' },
      { type: 'signature', choice: 0, signature: 's', origin: 'messages' },
      { type: 'text', choice: 0, text: 'Hi' },
    ]
    const signature = 'berth.messages.s'
    expect(deltas(await wrote(events, own))).toEqual([
      { role: 'assistant', content: thought },
      { content: [{ type: 'thinking', thinking: [], signature }] },
      { content: 'Hi' },
    ])
    const client = createChatClient({ ...options, ...own })
    const whole = client.encode(gather(events), final)
    expect(whole).toHaveProperty('choices.0.message.content', [{ ...thought[0], signature }, hi])
    expect(whole).not.toHaveProperty('choices.0.message.reasoning_content')
    const messages = [
      { role: 'assistant', content: 'Hi', reasoning_content: 'Hm.' },
      { role: 'assistant', content: [...thought, { ...hi, own: 1 }] },
    ]
    const choices = messages.map((message, index) => ({ index, message }))
    expect(client.pass({ choices }, final)).toMatchObject({
      choices: [
        { message: { role: 'assistant', content: [...thought, hi] } },
        { message: messages[1] },
      ],
    })
  })

  test('has signatures of other upstreams as thinking for Mistral’s client', async () => {
    const own = { flavor: 'mistral' } as const
    const signature = (text: string) => ({ type: 'thinking', thinking: [], signature: text })
    const google = { extra_content: { google: { thought_signature: 'S' } } }
    const sent = [
      chunk({
        reasoning_details: [
          { type: 'reasoning.text', signature: 'S', format: 'anthropic-claude-v1' },
        ],
      }),
      chunk({ tool_calls: [{ ...piece(0, 'c', 'f', '{}'), ...google }] }),
      chunk({}, 'tool_calls'),
    ]
    const contentsIn = (text: string) =>
      dataOf(text).flatMap((one) => Object(one).choices[0]?.delta.content ?? [])
    const expected = [signature('berth.messages.S'), signature('berth.gemini.encrypted.S')]
    expect(contentsIn(await passed(sent, own))).toEqual(expected)
    const events: ChatEvent[] = [
      { type: 'signature', choice: 0, signature: 'S', origin: 'messages' },
      { type: 'call', choice: 0, call: 0, id: 'c', name: 'f', signature: 'S' },
    ]
    expect(contentsIn(await wrote(events, own))).toEqual(expected)
    const content = [...expected, { type: 'text', text: 'Hi' }]
    const called = { role: 'assistant', content, tool_calls: [fn('c', 'f')] }
    const { request } = decodeChat({ messages: [user('x'), called] }, {})
    expect(request.messages[1]?.content).toMatchObject([
      { type: 'thinking', signature: 'S', origin: 'messages' },
      { type: 'text', text: 'Hi' },
      { type: 'call', signature: 'S' },
    ])
  })

  test('has whole calls and the usage in its last chunk for Mistral’s client', async () => {
    const text = await passed(
      [
        chunk({ content: 'Hm.' }),
        chunk({ tool_calls: [piece(0, 'c1', 'a', '{"x"'), piece(1, 'c2', 'b')] }),
        chunk({ tool_calls: [piece(0, undefined, undefined, ':1}')] }),
        chunk({}, 'tool_calls'),
        tail,
      ],
      { flavor: 'mistral', wantsUsage: false },
    )
    const [first, last, ...others] = dataOf(text)
    expect(others).toEqual([])
    expect(first).toMatchObject({ choices: [{ delta: { content: 'Hm.' } }] })
    expect(last).toMatchObject({
      choices: [
        {
          delta: {
            tool_calls: [
              { index: 0, ...fn('c1', 'a', '{"x":1}') },
              { index: 1, ...fn('c2', 'b') },
            ],
          },
          finish_reason: 'tool_calls',
        },
      ],
      usage: { prompt_tokens: 9, cost: 0.5 },
    })
    expect(text).toEndWith('data: [DONE]\n\n')
  })

  test('has Mistral’s thinking as text, and OpenRouter’s fields for its clients', async () => {
    const content = [
      { type: 'thinking', thinking: [{ type: 'text', text: 'hm' }] },
      { type: 'text', text: 'a' },
    ]
    const [one] = dataOf(await passed([chunk({ content })]))
    expect(one).toMatchObject({ choices: [{ delta: { content: 'a', reasoning_content: 'hm' } }] })
    // Groq, OpenRouter and vLLM have another name.
    const renamed = { reasoning: 'hm', reasoning_content: 'hm' }
    const [named] = dataOf(await passed([chunk({ reasoning: 'hm' })]))
    expect(named).toMatchObject({ choices: [{ delta: renamed }] })
    const message = { role: 'assistant', content: 'a', reasoning: 'hm' }
    expect(
      createChatClient(options).pass({ choices: [{ index: 0, message }] }, final),
    ).toMatchObject({ choices: [{ message: { content: 'a', ...renamed } }] })
    const [other] = dataOf(
      await passed([chunk({ reasoning_content: 'hm' })], { flavor: 'openrouter', id: 'gen-1' }),
    )
    expect(other).toMatchObject({
      id: 'gen-1',
      choices: [
        {
          delta: {
            reasoning: 'hm',
            reasoning_content: 'hm',
            reasoning_details: [{ type: 'reasoning.text', text: 'hm' }],
          },
        },
      ],
    })
  })

  test('has its thinking where Groq’s client reads it, written or passed', async () => {
    const own = { flavor: 'groq' } as const
    const deltas = (text: string) =>
      dataOf(text).flatMap((one) => Object(one).choices.map(({ delta }: Json) => delta))
    const parts = [{ type: 'thinking', thinking: [{ type: 'text', text: 'Hm.' }] }]
    const sent = [
      chunk({ reasoning_content: 'Hm.' }),
      chunk({ reasoning: 'Hm.' }),
      chunk({ content: parts }),
      chunk({ content: 'Hi' }),
    ]
    expect(deltas(await passed(sent, own))).toEqual([
      { reasoning_content: 'Hm.', reasoning: 'Hm.' },
      { reasoning: 'Hm.' },
      { reasoning: 'Hm.', content: '' },
      { content: 'Hi' },
    ])
    const events: ChatEvent[] = [
      { type: 'thinking', choice: 0, text: 'Hm.' },
      { type: 'text', choice: 0, text: 'Hi' },
    ]
    expect(deltas(await wrote(events, own))).toEqual([
      { role: 'assistant', reasoning: 'Hm.' },
      { content: 'Hi' },
    ])
    const client = createChatClient({ ...options, ...own })
    const whole = client.encode(gather(events), final)
    expect(whole).toMatchObject({ choices: [{ message: { reasoning: 'Hm.' } }] })
    expect(whole).not.toHaveProperty('choices.0.message.reasoning_content')
    const message = { role: 'assistant', content: 'Hi', reasoning_content: 'Hm.' }
    const both = { choices: [{ message: { ...message, reasoning: 'Hm.' } }] }
    const aiSdk = createChatClient({ ...options, flavor: 'ai-sdk' })
    for (const one of [client, aiSdk]) {
      expect(one.pass({ choices: [{ index: 0, message }] }, final)).toMatchObject(both)
    }
    expect(aiSdk.encode(gather(events), final)).toMatchObject(both)
  })
})

describe('LiteLLM’s clients, which drop other fields of a stream, get', () => {
  const signed = { extra_content: { google: { thought_signature: 'S' } } }
  const kept = { provider_specific_fields: { thought_signature: 'S' } }
  const block = { type: 'thinking', thinking: 'Hm.', signature: 'S' }
  const detail = { type: 'reasoning.text', signature: 'S', format: 'anthropic-claude-v1' }
  const deltaIn = (text: string, field: string) =>
    dataOf(text)
      .map((one) => Object(one).choices[0]?.delta ?? {})
      .find((delta) => delta[field] !== undefined)

  test.each(['openai', 'openrouter'] as const)('signatures, at %s’s paths', async (flavor) => {
    const events: ChatEvent[] = [
      { type: 'thinking', choice: 0, text: 'Hm' },
      { type: 'thinking', choice: 0, text: '.' },
      { type: 'signature', choice: 0, signature: 'S', origin: 'messages' },
      { type: 'call', choice: 0, call: 0, id: 'c', name: 'f', signature: 'S' },
    ]
    const text = await wrote(events, { flavor })
    expect(deltaIn(text, 'thinking_blocks')).toMatchObject({ thinking_blocks: [block] })
    expect(deltaIn(text, 'tool_calls')).toMatchObject({ tool_calls: [{ ...signed, ...kept }] })
    const whole = createChatClient({ ...options, flavor }).encode(gather(events), final)
    expect(whole).toMatchObject({
      choices: [{ message: { thinking_blocks: [block], tool_calls: [{ ...signed, ...kept }] } }],
    })
  })

  test('those of Google and OpenRouter, whose own events and responses are passed', async () => {
    const call = { ...fn('c', 'f'), ...signed }
    const text = await passed([
      chunk({ reasoning: 'Hm', reasoning_details: [{ type: 'reasoning.text', text: 'Hm' }] }),
      chunk({ reasoning: '.', reasoning_details: [{ type: 'reasoning.text', text: '.' }] }),
      chunk({ reasoning_details: [detail] }),
      chunk({ tool_calls: [{ index: 0, ...call }] }),
    ])
    expect(deltaIn(text, 'thinking_blocks')).toEqual({
      reasoning_details: [detail],
      thinking_blocks: [block],
    })
    expect(deltaIn(text, 'tool_calls')).toMatchObject({ tool_calls: [{ ...call, ...kept }] })
    const message = { content: 'Hi', reasoning_details: [{ ...detail, text: 'Hm.' }] }
    const choices = [{ index: 0, message: { ...message, tool_calls: [call] } }]
    expect(createChatClient(options).pass({ choices }, final)).toMatchObject({
      choices: [
        { message: { ...message, thinking_blocks: [block], tool_calls: [{ ...call, ...kept }] } },
      ],
    })
  })
})

describe('a stream of another API', () => {
  const events: ChatEvent[] = [
    { type: 'start', id: 'msg_1' },
    { type: 'thinking', choice: 0, text: 'h' },
    { type: 'thinking', choice: 0, text: 'm' },
    { type: 'signature', choice: 0, signature: 'SIG', origin: 'messages' },
    { type: 'text', choice: 0, text: 'Hi' },
    { type: 'call', choice: 0, call: 0, id: 'functions.f:0', name: 'f', signature: 'G' },
    { type: 'arguments', choice: 0, call: 0, text: '{"a":1}' },
    { type: 'end', choice: 0, reason: 'calls' },
    { type: 'done' },
  ]

  test('is written in OpenAI’s form', async () => {
    const text = await wrote(events)
    const chunks = dataOf(text)
    expect(chunks[0]).toEqual({
      id: 'msg_1',
      object: 'chat.completion.chunk',
      created: 7,
      model: 'a/b',
      choices: [
        { index: 0, delta: { role: 'assistant', reasoning_content: 'h' }, finish_reason: null },
      ],
    })
    expect(chunks.at(-2)).toMatchObject({ choices: [{ delta: {}, finish_reason: 'tool_calls' }] })
    expect(chunks.at(-1)).toMatchObject({
      choices: [],
      usage: { prompt_tokens: 9, total_tokens: 11, cost: 0.5 },
    })
    expect(text).toEndWith('data: [DONE]\n\n')
  })

  test('has its usage once, where the upstream reports one with each event', async () => {
    const writer = createChatClient(options).createWriter()
    const written = [writer.report?.(final), writer.write(events), writer.report?.(final)]
    const [early, ...others] = [...written, await writer.end(final)]
    expect(early).toHaveLength(0)
    const chunks = dataOf(Buffer.concat(others.map((part) => part ?? new Uint8Array())).toString())
    expect(chunks.flatMap(({ usage }) => (usage ? [usage] : []))).toHaveLength(1)
  })

  test.each(['openai', 'openrouter'] as const)(
    'has lists that OpenAI’s SDK for Python can join, at %s’s paths',
    async (flavor) => {
      const thought = (signature: string): ChatEvent[] => [
        { type: 'thinking', choice: 0, text: `of ${signature}` },
        { type: 'signature', choice: 0, signature, origin: 'messages' },
      ]
      const cited = (url: string): ChatEvent[] => [
        { type: 'text', choice: 0, text: url },
        { type: 'citation', choice: 0, citation: { url, title: url } },
      ]
      const signed = (call: number): ChatEvent[] => [
        { type: 'call', choice: 0, call, id: `c${call}`, name: 'f', signature: `G${call}` },
      ]
      const text = await wrote(
        [thought('A'), thought('B'), cited('a'), cited('b'), signed(0), signed(1)].flat(),
        { flavor },
      )
      const joined = (name: string): Json[] => {
        const entries: Json[] = []
        for (const { choices } of dataOf(text)) {
          const list: Json[] = Object(choices)[0]?.delta[name] ?? []
          // The SDK raises an error for an entry of a further list without an index.
          const isFirst = entries.length === 0
          for (const [place, entry] of list.entries()) {
            const at = isFirst ? place : Number(entry.index)
            expect(at).not.toBeNaN()
            entries[at] = { ...entries[at], ...entry }
          }
        }
        return entries
      }
      const thoughts = [{ signature: 'A' }, { signature: 'B' }]
      expect(joined('thinking_blocks')).toMatchObject(thoughts)
      expect(joined('annotations')).toMatchObject([
        { url_citation: { url: 'a' } },
        { url_citation: { url: 'b' } },
      ])
      const calls = flavor === 'openrouter' ? [{ data: 'G0' }, { data: 'G1' }] : []
      expect(joined('reasoning_details')).toMatchObject([...thoughts, ...calls])
      // A host takes only blocks without the index.
      const turn = { role: 'assistant', content: 'a', thinking_blocks: joined('thinking_blocks') }
      const decoded = decodeChat({ messages: [user('Hi'), turn, user('Go on')] }, {}).request
      expect(decoded.raw).toBeUndefined()
    },
  )

  test('has signed thoughts as LiteLLM’s clients keep them', async () => {
    const chunks = dataOf(await wrote(events))
    const blocks = chunks.flatMap((one) => Object(one).choices[0]?.delta.thinking_blocks ?? [])
    expect(blocks).toEqual([{ type: 'thinking', thinking: 'hm', signature: 'SIG' }])
    const joined = { role: 'assistant', content: 'Hi', thinking_blocks: blocks }
    expect(
      decodeChat({ messages: [user('x'), joined] }, {}).request.messages[1]?.content[0],
    ).toEqual({ type: 'thinking', text: 'hm', signature: 'SIG', origin: 'messages' })
  })

  test.each(['openai', 'openrouter'] as const)(
    'comes back whole from a client of %s',
    async (flavor) => {
      const joined: Json = {
        role: 'assistant',
        content: '',
        reasoning_content: '',
        reasoning_details: [],
        tool_calls: [],
      }
      for (const one of dataOf(await wrote(events, { flavor }))) {
        const delta = Object(one).choices[0]?.delta ?? {}
        for (const name of ['content', 'reasoning_content'])
          joined[name] = `${joined[name]}${delta[name] ?? ''}`
        joined.reasoning_details = [
          ...Object(joined.reasoning_details),
          ...(delta.reasoning_details ?? []),
        ]
        for (const { index, function: called, ...call } of delta.tool_calls ?? []) {
          const calls = Object(joined.tool_calls)
          calls[index] ??= { ...call, function: { ...called, arguments: '' } }
          calls[index].function.arguments += called.arguments
        }
      }
      const reply = { role: 'tool', tool_call_id: Object(joined.tool_calls)[0].id, content: 'y' }
      const [, assistant, result] = decodeChat({ messages: [user('x'), joined, reply] }, {}).request
        .messages
      expect(assistant).toEqual({
        role: 'assistant',
        content: [
          { type: 'thinking', text: 'hm', signature: 'SIG', origin: 'messages' },
          { type: 'text', text: 'Hi' },
          { type: 'call', id: 'functions.f:0', name: 'f', arguments: '{"a":1}', signature: 'G' },
        ],
      })
      expect(result).toMatchObject({ callId: 'functions.f:0' })
    },
  )

  test('fails with the error of the client’s API', () => {
    const failed = (flavor: 'openai' | 'openrouter') =>
      dataOf(
        Buffer.from(
          createChatClient({ ...options, flavor })
            .createWriter()
            .fail({ message: 'Broke.', type: 'api_error', param: null, code: 'x' }, final),
        ).toString(),
      )
    expect(failed('openai')).toEqual([
      { error: { message: 'Broke.', type: 'api_error', param: null, code: 'x' } },
    ])
    expect(failed('openrouter')).toMatchObject([
      { id: 'chatcmpl-1', error: { code: 502, message: 'Broke.' } },
    ])
  })

  test('is kept open by a comment', () => {
    const beat = createChatClient(options).createWriter().beat()
    expect(Buffer.from(beat).toString()).toBe(': keep-alive\n\n')
  })
})

describe('a whole response', () => {
  const completion = (message: object) => ({
    id: 'c',
    object: 'chat.completion',
    created: 1,
    model: 'upstream-m',
    choices: [{ index: 0, message, finish_reason: 'stop' }],
    usage: { prompt_tokens: 9, completion_tokens: 2, cost: 3 },
  })
  const pass = (message: object, more: Partial<ChatWriterOptions> = {}) =>
    createChatClient({ ...options, ...more }).pass(completion(message), final)

  test('is passed with its cost and the model that was asked for', async () => {
    const message = { role: 'assistant', content: 'Hi', own: [1] }
    expect(await pass(message)).toEqual({
      ...completion(message),
      system_fingerprint: null,
      model: 'a/b',
      usage: { prompt_tokens: 9, completion_tokens: 2, cost: 0.5 },
    })
  })

  test.each<Json>([
    { prompt_cache_hit_tokens: 40, prompt_cache_miss_tokens: 60 },
    { cached_tokens: 40 },
    { cache_read_input_tokens: 40 },
    { prompt_tokens_details: { cached_tokens: 40, image_tokens: 3 } },
  ])('has its cached tokens where clients of OpenAI look for them: %j', async (counts) => {
    const own = { prompt_tokens: 100, completion_tokens: 30, ...counts }
    const usage = readUsage(own, { prompt: 1_000, completion: 1_000 }) ?? createUsage({})
    const sent = { ...completion({ content: 'Hi' }), usage: own }
    const details = { ...Object(counts.prompt_tokens_details), cached_tokens: 40 }
    const expected = { ...own, prompt_tokens_details: details }
    expect(await createChatClient(options).pass(sent, { usage })).toMatchObject({ usage: expected })
    const stream = chunk({}, null, { choices: [], usage: own })
    const writer = createChatClient(options).createWriter()
    const event = eventOf(encodeEvent(stream), JSON.stringify(stream))
    writer.pass(event, createChatReader().read(JSON.stringify(stream)) ?? [])
    const text = Buffer.from(await writer.end({ usage })).toString()
    expect(dataOf(text).at(-1)).toMatchObject({ usage: expected })
  })

  test('is repaired where clients could not read it', async () => {
    const content = [
      { type: 'thinking', thinking: [{ type: 'text', text: 'hmm' }] },
      { type: 'text', text: 'Hello' },
    ]
    const tool_calls = [{ type: 'function', function: { name: 'f', arguments: { a: 1 } } }]
    expect(await pass({ role: 'assistant', content, tool_calls })).toMatchObject({
      choices: [
        {
          message: {
            content: 'Hello',
            reasoning_content: 'hmm',
            tool_calls: [
              {
                id: expect.stringMatching(/^call_/),
                function: { name: 'f', arguments: '{"a":1}' },
              },
            ],
          },
        },
      ],
    })
    const same = [fn('a', 'f', '{"a":1}'), fn('a', 'f', '{"a":2}')]
    const { choices } = Object(await pass({ role: 'assistant', content: null, tool_calls: same }))
    const [first, second] = choices[0].message.tool_calls
    expect([first, second.function]).toEqual([same[0], same[1]?.function])
    expect(second.id).not.toBe('a')
    const called = {
      role: 'assistant',
      content: null,
      function_call: { name: 'f', arguments: '{}' },
    }
    expect(await pass(called)).toMatchObject({
      choices: [{ message: { tool_calls: [{ function: { name: 'f' } }] } }],
    })
    expect(await pass(called, { hasFunctions: true })).toMatchObject({
      choices: [{ message: { function_call: { name: 'f' } } }],
    })
  })

  test('has OpenRouter’s fields for its clients', async () => {
    expect(
      await pass(
        { role: 'assistant', content: 'ok', reasoning_content: 'because' },
        { flavor: 'openrouter', id: 'gen-1' },
      ),
    ).toMatchObject({
      id: 'gen-1',
      choices: [
        {
          message: {
            content: 'ok',
            reasoning: 'because',
            reasoning_content: 'because',
            reasoning_details: [{ type: 'reasoning.text', text: 'because' }],
          },
        },
      ],
    })
  })

  test('of another API is written in OpenAI’s form', async () => {
    const message = {
      role: 'assistant',
      content: 'Hi',
      refusal: null,
      reasoning_content: 'hm',
      // LiteLLM's field.
      thinking_blocks: [{ type: 'thinking', thinking: 'hm', signature: 'S' }],
      reasoning_details: [
        {
          type: 'reasoning.text',
          text: 'hm',
          signature: 'S',
          format: 'anthropic-claude-v1',
          index: 0,
        },
      ],
      tool_calls: [fn('a', 'f', '{"a":1}')],
    }
    const response = gather(readWholeChat(completion(message)))
    expect(await createChatClient(options).encode(response, final)).toEqual({
      id: 'c',
      object: 'chat.completion',
      created: 1,
      model: 'a/b',
      system_fingerprint: null,
      choices: [{ index: 0, message, logprobs: null, finish_reason: 'stop' }],
      usage: {
        prompt_tokens: 9,
        completion_tokens: 2,
        total_tokens: 11,
        prompt_tokens_details: { cached_tokens: 0, cache_write_tokens: 0, audio_tokens: 0 },
        completion_tokens_details: { reasoning_tokens: 0 },
        cost: 0.5,
      },
    })
  })
})
