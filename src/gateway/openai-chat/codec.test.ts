/** One topic: a conversation on its way from a client to an upstream, as one table of faults. */
import { describe, expect, test } from 'bun:test'

import { ApiError } from '../../kernel/errors.ts'
import type { Json } from '../../kernel/schema.ts'
import type { ChatRequest, Message } from '../conversation/chat-request.ts'
import { countChars, mediaIn, replaceMedia } from '../conversation/contents.ts'
import { decodeChat, sentNames } from './decode.ts'
import { createChatCodec, encodeChat } from './encode.ts'
import { familyOf } from './families.ts'

const user = (content: unknown) => ({ role: 'user', content })
const fn = (id: string, name: string, args: unknown = '{}') => ({
  id,
  type: 'function',
  function: { name, arguments: args },
})
const png = 'iVBORw0KGgo='
const jpeg = '/9j/4AAQSkZJRg=='
const imageOf = (url: string) => ({ type: 'image_url', image_url: { url } })
const mark = { cache_control: { type: 'ephemeral' } }

const decode = (body: object) =>
  decodeChat({ model: 'a/b', messages: [user('Hi')], ...body }, { developerRole: 'system' })
const target = { model: 'm', isStream: false, outputMax: 100, stopsItself: true }
const at = (host: string) => ({ family: familyOf(`https://${host}/v1`) })
const openai = at('api.openai.com')
const openrouter = at('openrouter.ai')
const mistral = at('api.mistral.ai')

/** Returns the body that an upstream gets for a client's body. */
const sent = (body: object, dialect = {}, more = {}): Json =>
  JSON.parse(JSON.stringify(encodeChat(decode(body).request, { ...target, ...more }, dialect).body))
const sentMessages = (messages: object[], dialect = {}) => sent({ messages }, dialect).messages

/** Returns the body for a request whose conversation the gateway changed. */
const written = (body: object, dialect = {}): Json => {
  const { raw: _, ...request } = decode(body).request
  return JSON.parse(JSON.stringify(encodeChat(request, target, dialect).body))
}

describe('a request to an upstream of the same API', () => {
  const tool = { type: 'function', function: { name: 'f', parameters: { type: 'object' } } }
  const body = {
    messages: [
      { role: 'system', content: [{ type: 'text', text: 'Be short.' }] },
      {
        role: 'user',
        content: [{ type: 'text', text: 'See.', ...mark }, imageOf('https://a.example/b.png')],
        name: 'gus',
      },
      { role: 'assistant', content: null, tool_calls: [fn('c1', 'f', '{"a":1}')] },
      { role: 'tool', tool_call_id: 'c1', content: 'y' },
    ],
    tools: [tool],
    temperature: 0.3,
    stop: ['.'],
    logit_bias: { a: 1 },
    metadata: { a: [null] },
    user: null,
  }

  test('arrives as it was sent, with the upstream’s model', () => {
    expect(sent(body)).toEqual({ ...body, model: 'm' })
    expect(Object.keys(sent(body))).toEqual([...Object.keys(body), 'model'])
  })

  test('says the same where the gateway had to write it anew', () => {
    expect(written(body)).toEqual({
      ...body,
      messages: [{ role: 'system', content: 'Be short.' }, ...body.messages.slice(1)],
      model: 'm',
    })
  })

  test('loses the fields of the gateway, and the names that few upstreams know', () => {
    const older = {
      messages: [
        user('How deep?'),
        { role: 'assistant', content: null, function_call: { name: 'f', arguments: '{}' } },
        { role: 'function', name: 'f', content: '9 m' },
      ],
      functions: [{ name: 'f', parameters: { type: 'object' } }],
      function_call: { name: 'f' },
      provider: {},
      web_search: false,
      usage: { include: true },
      reasoning: { effort: 'low' },
      plugins: [],
    }
    expect(sent(older)).toEqual({
      model: 'm',
      messages: [
        user('How deep?'),
        { role: 'assistant', content: null, tool_calls: [fn('call_1', 'f')] },
        { role: 'tool', tool_call_id: 'call_1', content: '9 m' },
      ],
      tools: [{ type: 'function', function: { name: 'f', parameters: { type: 'object' } } }],
      tool_choice: { type: 'function', function: { name: 'f' } },
      reasoning_effort: 'low',
    })
    expect(decode(older)).toMatchObject({ hasFunctions: true, wantsUsage: true, search: false })
    expect(sent({ tool_choice: 'any' })).toMatchObject({ tool_choice: 'required' })
    expect(sent(older, openrouter)).toMatchObject({ reasoning: { effort: 'low' } })
  })

  test('never asks for more output than is held', () => {
    const limit = (request: object, dialect = {}, stopsItself = false) => {
      const { max_tokens, max_completion_tokens } = sent(request, dialect, { stopsItself })
      return [max_tokens, max_completion_tokens]
    }
    expect(limit({})).toEqual([100, undefined])
    expect(limit({}, {}, true)).toEqual([undefined, undefined])
    expect(limit({ max_tokens: 500 }, {}, true)).toEqual([100, undefined])
    expect(limit({ max_completion_tokens: 5 })).toEqual([undefined, 5])
    expect(limit({ max_tokens: 5, max_completion_tokens: 6 })).toEqual([5, 5])
    expect(limit({ max_tokens: 5 }, { outputName: 'max_completion_tokens' })).toEqual([
      undefined,
      5,
    ])
  })

  test('asks for the usage of every stream', () => {
    const stream = { stream: true, stream_options: { chunk: 1 } }
    const isStream = true
    expect(sent(stream, {}, { isStream })).toMatchObject({
      stream: true,
      stream_options: { chunk: 1, include_usage: true },
    })
    expect(sent(stream, { rejectsStreamOptions: true }, { isStream })).not.toHaveProperty(
      'stream_options',
    )
    expect(sent(stream)).not.toHaveProperty('stream')
  })

  test('names the fields that the upstream does not get', () => {
    const { request } = decode({ zebra: 1, top_k: 5, safe_prompt: true, seed: null })
    expect(createChatCodec(openai).ignoredFields(request)).toEqual(['zebra', 'safe_prompt'])
    expect(createChatCodec(mistral).ignoredFields(request)).toEqual(['zebra'])
  })

  test('get the thoughts of Mistral’s clients with their signatures, each its own', () => {
    const thinking = [{ type: 'text', text: 'Hm.' }]
    const turn = (signature: string) => ({
      role: 'assistant',
      content: [
        { type: 'thinking', thinking },
        { type: 'thinking', thinking: [], signature },
        { type: 'text', text: 'Hi' },
      ],
    })
    const messages = [user('Hi'), turn('berth.messages.s'), turn('own')]
    const thoughts = decode({ messages }).request.messages.flatMap(({ content }) =>
      content.filter(({ type }) => type === 'thinking'),
    )
    const thought = { type: 'thinking', text: 'Hm.' }
    expect(thoughts).toMatchObject([
      { ...thought, signature: 's', origin: 'messages' },
      { ...thought, signature: 'own', origin: 'chat' },
    ])
    const hi = { type: 'text', text: 'Hi' }
    const [, foreign, own] = [sentMessages(messages, mistral)].flat()
    expect(foreign).toMatchObject({ content: [{ type: 'thinking', thinking }, hi] })
    expect(foreign).not.toHaveProperty('content.0.signature')
    expect(own).toMatchObject({ content: [{ type: 'thinking', thinking, signature: 'own' }, hi] })
  })

  test('get no default of Mistral’s clients for turns of the model', () => {
    const turn = (prefix: boolean) => [user('Hi'), { role: 'assistant', content: 'Ho', prefix }]
    expect(sentMessages(turn(false), openai)).toEqual([
      user('Hi'),
      { role: 'assistant', content: 'Ho' },
    ])
    expect(sentMessages(turn(true), openai)).toEqual(turn(true))
  })

  test('get a seed under the name that they know, whichever the client has', () => {
    for (const name of ['seed', 'random_seed']) {
      const request = decode({ [name]: 7 }).request
      expect(request.sampling).toEqual({ seed: 7 })
      expect(sent({ [name]: 7 }, mistral)).toMatchObject({ random_seed: 7 })
      expect(sent({ [name]: 7 }, mistral)).not.toHaveProperty('seed')
      expect(sent({ [name]: 7 }, openai)).toMatchObject({ seed: 7 })
      expect(sent({ [name]: 7 }, openai)).not.toHaveProperty('random_seed')
    }
  })
})

describe('a request that upstreams refuse is repaired', () => {
  test('empty texts, wrong labels, Mistral’s addresses', () => {
    const parts = [
      { type: 'text', text: '' },
      { type: 'text', text: 'See.' },
      imageOf(`data:image/jpg;base64,${jpeg}`),
      imageOf(`data:image/png;base64,${jpeg}`),
      { type: 'image_url', image_url: 'https://a.example/b.png' },
    ]
    expect(sentMessages([user(parts)])).toEqual([
      user([
        { type: 'text', text: 'See.' },
        imageOf(`data:image/jpeg;base64,${jpeg}`),
        imageOf(`data:image/jpeg;base64,${jpeg}`),
        imageOf('https://a.example/b.png'),
      ]),
    ])
  })

  const pdf = 'data:application/pdf;base64,JVBERi0xLjQ='
  const fileOf = (file_data: string, filename?: string) => ({
    type: 'file',
    file: { ...(filename && { filename }), file_data },
  })
  const documentOf = (document_url: string, document_name?: string | null) => ({
    type: 'document_url',
    document_url,
    ...(document_name !== undefined && { document_name }),
  })
  const audioOf = (data: string, format: string) => ({
    type: 'input_audio',
    input_audio: { data, format },
  })
  const [wav, mp3] = ['UklGRgECAwRXQVZF', '//uQxAAA']

  test('documents and audio of Mistral’s clients', () => {
    const parts = [
      documentOf(pdf, 'deed.pdf'),
      documentOf('https://a.example/b.pdf', null),
      documentOf('data:application/octet-stream;base64,JVBERi0xLjQ='),
      { type: 'input_audio', input_audio: wav },
      { type: 'input_audio', input_audio: mp3 },
      { type: 'input_audio', input_audio: `data:audio/flac;base64,ZkxhQw==` },
    ]
    expect(sentMessages([user(parts)])).toEqual([
      user([
        fileOf(pdf, 'deed.pdf'),
        fileOf('https://a.example/b.pdf'),
        fileOf(pdf, 'document.pdf'),
        audioOf(wav, 'wav'),
        audioOf(mp3, 'mp3'),
        audioOf('ZkxhQw==', 'flac'),
      ]),
    ])
  })

  test('documents and audio for Mistral', () => {
    const parts = [
      fileOf(pdf, 'deed.pdf'),
      fileOf('https://a.example/b.pdf'),
      audioOf(wav, 'wav'),
      imageOf('https://a.example/b.png'),
    ]
    const expected = [
      documentOf(pdf, 'deed.pdf'),
      documentOf('https://a.example/b.pdf'),
      { type: 'input_audio', input_audio: wav },
      imageOf('https://a.example/b.png'),
    ]
    for (const part of parts) {
      expect(sentMessages([user([part])], mistral)).toEqual([user([expected[parts.indexOf(part)]])])
    }
    expect(sentMessages([user(parts)], mistral)).toEqual([user(expected)])
    expect(sentMessages([user(expected)], mistral)).toEqual([user(expected)])
    expect(written({ messages: [user(parts)] }, mistral).messages).toEqual([user(expected)])
    const upload = { type: 'file', file_id: 'file-1' }
    expect(sentMessages([user([upload])], mistral)).toEqual([user([upload])])
  })

  test('an empty list as the content of calls', () => {
    const calls = { tool_calls: [fn('c1', 'f', '{}')] }
    const result = { role: 'tool', tool_call_id: 'c1', content: 'x' }
    expect(sentMessages([user('x'), { role: 'assistant', content: [], ...calls }, result])).toEqual(
      [user('x'), { role: 'assistant', content: null, ...calls }, result],
    )
  })

  test('calls without an id, and arguments that are an object', () => {
    const call = { type: 'function', function: { name: 'f', arguments: { a: 1 } } }
    const messages = sentMessages([
      user('x'),
      { role: 'assistant', content: '', tool_calls: [call, { ...call, id: '' }] },
      { role: 'tool', tool_call_id: '', content: 'first' },
      { role: 'tool', content: 'second' },
    ])
    const ids = ['call_2_0', 'call_2_1']
    expect(messages).toEqual([
      user('x'),
      { role: 'assistant', content: null, tool_calls: ids.map((id) => fn(id, 'f', '{"a":1}')) },
      { role: 'tool', tool_call_id: ids[0], content: 'first' },
      { role: 'tool', tool_call_id: ids[1], content: 'second' },
    ])
  })

  test('calls with an id that an earlier call has', () => {
    const turn = (...calls: Json[]) => ({ role: 'assistant', content: null, tool_calls: calls })
    const result = (id: string, content: string) => ({ role: 'tool', tool_call_id: id, content })
    const call = fn('call_0', 'f', '{}')
    const messages = sentMessages([
      user('x'),
      turn(call),
      result('call_0', 'first'),
      turn(call, call),
      result('call_0', 'second'),
      result('call_0', 'third'),
    ])
    expect(messages).toEqual([
      user('x'),
      turn(call),
      result('call_0', 'first'),
      turn(fn('call_4_0', 'f', '{}'), fn('call_4_1', 'f', '{}')),
      result('call_4_0', 'second'),
      result('call_4_1', 'third'),
    ])
  })

  test('media of tool results come in the next user message', () => {
    const image = imageOf(`data:image/png;base64,${png}`)
    const messages = sentMessages([
      user('look'),
      { role: 'assistant', content: null, tool_calls: [fn('c1', 'f'), fn('c2', 'f')] },
      { role: 'tool', tool_call_id: 'c1', content: [{ type: 'text', text: 'Done.' }, image] },
      { role: 'tool', tool_call_id: 'c2', content: 'ok' },
      user('and?'),
    ])
    expect(messages).toMatchObject([
      {},
      {},
      { content: 'Done.\n\nThe media of this result are in the next message.' },
      { tool_call_id: 'c2', content: 'ok' },
      user([
        { type: 'text', text: 'Media of the result of c1:' },
        image,
        { type: 'text', text: 'and?' },
      ]),
    ])
  })

  test('an empty schema, and a choice of allowed tools', () => {
    const tools = ['f', 'g'].map((name) => ({
      type: 'function',
      function: { name, parameters: {} },
    }))
    const allowed = { mode: 'required', tools: [{ type: 'function', function: { name: 'g' } }] }
    const body = { tools, tool_choice: { type: 'allowed_tools', allowed_tools: allowed } }
    const parameters = { type: 'object', properties: {} }
    expect(sent(body)).toMatchObject({
      tools: [{ function: { name: 'g', parameters } }],
      tool_choice: 'required',
    })
    expect(sent(body, openai)).toMatchObject({
      tools: [{ function: { name: 'f', parameters } }, {}],
      tool_choice: body.tool_choice,
    })
  })

  test('a schema without a type, and arguments that are no object', () => {
    const properties = { a: { type: 'string' } }
    const body = {
      tools: [{ type: 'function', function: { name: 'f', parameters: { properties } } }],
      messages: [
        user('x'),
        { role: 'assistant', content: null, tool_calls: [fn('c1', 'f', '[1]')] },
        { role: 'tool', tool_call_id: 'c1', content: 'y' },
      ],
    }
    expect(written(body)).toMatchObject({
      tools: [{ function: { parameters: { type: 'object', properties } } }],
      messages: [{}, { tool_calls: [fn('c1', 'f', '{"arguments":"[1]"}')] }, {}],
    })
  })

  test('more texts that end the output than the upstream takes', () => {
    const body = { stop: ['a', 'b', 'c', 'd', 'e'] }
    expect(written(body, openai).stop).toEqual(['a', 'b', 'c', 'd'])
    expect(written(body).stop).toEqual(body.stop)
  })

  test('turns in the order that Mistral requires', () => {
    const results = [
      user('x'),
      { role: 'assistant', content: null, tool_calls: [fn('abcdefghi', 'f')] },
      { role: 'tool', tool_call_id: 'abcdefghi', content: 'y' },
    ]
    const begun = { role: 'assistant', content: 'Well' }
    const messages = [...results, user('and?'), begun]
    expect(sentMessages(messages)).toEqual(messages)
    expect(sentMessages(messages, mistral)).toEqual([
      ...results,
      { role: 'assistant', content: 'OK.' },
      user('and?'),
      { ...begun, prefix: true },
    ])
    const ordered = [...results, { role: 'assistant', content: 'z' }, user('and?')]
    expect(sentMessages(ordered, mistral)).toEqual(ordered)
  })

  test('LiteLLM’s signature of a call in the place where Google reads it', () => {
    const call = { ...fn('c1', 'f'), provider_specific_fields: { thought_signature: 'S' } }
    const result = { role: 'tool', tool_call_id: 'c1', content: 'y' }
    const messages = [user('x'), { role: 'assistant', content: null, tool_calls: [call] }, result]
    const [, called] = [sentMessages(messages, at('generativelanguage.googleapis.com'))].flat()
    expect(called).toEqual({
      role: 'assistant',
      content: null,
      tool_calls: [{ ...fn('c1', 'f'), extra_content: { google: { thought_signature: 'S' } } }],
    })
  })

  test('ids of tool calls in the form of the upstream', () => {
    const messages = [
      user('x'),
      { role: 'assistant', content: null, tool_calls: [fn('functions.f:0', 'f')] },
      { role: 'tool', tool_call_id: 'functions.f:0', content: 'y' },
    ]
    expect(sentMessages(messages)).toEqual(messages)
    const [, called, reply] = [sentMessages(messages, mistral)].flat()
    const id = Object(called).tool_calls[0].id
    expect(id).toMatch(/^[a-zA-Z0-9]{9}$/)
    expect(reply).toMatchObject({ tool_call_id: id })
  })
})

describe('errors', () => {
  const nameOf = (body: object): unknown => {
    try {
      decodeChat(body, {})
      return undefined
    } catch (error) {
      return error instanceof ApiError ? [error.errorName, Object(error.details[0]).param] : error
    }
  }
  const rows: [name: string, param: string | undefined, body: object][] = [
    ['no_messages', undefined, { messages: [], tools: 5 }],
    ['bad_role', undefined, { messages: [user(5), { role: 'developer', content: 'x' }] }],
    ['bad_role', undefined, { messages: [user('x'), { role: 'tool', content: 'x' }] }],
    ['bad_role', undefined, { messages: [{ role: 'tool', tool_call_id: 'c1', content: 'y' }] }],
    ['bad_part', undefined, { messages: [user(['x'])] }],
    ['bad_part', undefined, { messages: [user([{ type: 'thinking', thinking: 'x' }])] }],
    ['bad_request', 'messages', { messages: [user(5)] }],
    ['no_usable_messages', undefined, { messages: [user([{ type: 'text', text: '' }])], n: 0 }],
    ['bad_request', 'file_id', { messages: [{ role: 'system', content: 'x' }], file_id: 'f' }],
    ['bad_request', 'audio', { messages: [user('x')], audio: {}, tools: 5 }],
    ['bad_request', 'tools', { messages: [user('x')], tools: [{ type: 'web_search' }] }],
    ['bad_request', 'function_call', { messages: [user('x')], function_call: 'auto' }],
    ['bad_request', 'reasoning', { messages: [user('x')], reasoning: 'low' }],
    ['bad_request', 'stream', { messages: [user('x')], stream: 'yes' }],
    ['bad_request', 'n', { messages: [user('x')], n: 0 }],
    ['bad_request', 'max_tokens', { messages: [user('x')], max_tokens: -1 }],
  ]
  test.each(rows)('%s %s: %j', (name, param, body) => {
    expect(nameOf(body)).toEqual([name, param])
  })

  test('have the name of the field that was sent', () => {
    expect(sentNames({ max_completion_tokens: 5, web_search_options: {} })).toEqual({
      max_tokens: 'max_completion_tokens',
      web_search: 'web_search_options',
    })
  })
})

describe('thinking', () => {
  const details = [
    { type: 'reasoning.text', text: 'hm', index: 0 },
    { type: 'reasoning.text', text: 'm', index: 0 },
    { type: 'reasoning.text', signature: 'SIG', format: 'anthropic-claude-v1', index: 0 },
  ]
  const turn = (more: object) => [
    user('x'),
    { role: 'assistant', content: null, tool_calls: [fn('c1', 'f')], ...more },
    { role: 'tool', tool_call_id: 'c1', content: 'y' },
  ]
  const thoughtOf = (more: object) =>
    decode({ messages: turn(more) }).request.messages[1]?.content[0]

  test('of a stream is one signed thought', () => {
    const signature = 'SIG'
    const thought = { type: 'thinking', text: 'hmm', signature, origin: 'messages' } as const
    expect(thoughtOf({ reasoning_details: details })).toEqual(thought)
    const signed = [{ type: 'reasoning.text', text: '', signature: 'SIG' }]
    expect(thoughtOf({ reasoning_content: 'hmm', reasoning_details: signed })).toEqual(thought)
    const blocks = [{ type: 'thinking', thinking: 'hmm', signature: 'SIG' }]
    expect(thoughtOf({ reasoning_content: 'hmm', thinking_blocks: blocks })).toEqual(thought)
  })

  test('keeps the model that signed it', () => {
    const encrypted = (format: string, id: string) =>
      thoughtOf({ reasoning_details: [{ type: 'reasoning.encrypted', data: 'D', format, id }] })
    expect(encrypted('openai-responses-v1', 'rs_1')).toMatchObject({
      origin: 'responses',
      id: 'rs_1',
      isEncrypted: true,
    })
    expect(encrypted('xai-responses-v1', 'rs_1')).toMatchObject({ origin: 'chat' })
    // Google signs calls.
    expect(encrypted('google-gemini-v1', 'c1')).toMatchObject({ type: 'call', signature: 'D' })
  })

  test('finds its call among many', () => {
    const ids = Array.from({ length: 100_000 }, (_, number) => `c${number}`)
    const calls = ids.map((id) => fn(id, 'f'))
    const [format, type] = ['google-gemini-v1', 'reasoning.encrypted']
    const reasoning_details = ids.toReversed().map((id) => ({ type, data: id, format, id }))
    const messages = turn({ tool_calls: calls, reasoning_details }).slice(0, 2)
    const [, { content = [] } = {}] = decode({ messages }).request.messages
    expect(content.map((part) => part.type === 'call' && part.signature)).toEqual(ids)
  })

  test('of parts of Mistral’s content', () => {
    const thinking = [{ type: 'text', text: 'hmm' }]
    const content = [
      { type: 'thinking', thinking },
      { type: 'text', text: 'Hello' },
    ]
    const [, message] = [sentMessages(turn({ content }))].flat()
    expect(message).toMatchObject({ content: 'Hello', reasoning_content: 'hmm' })
    const [, own] = [sentMessages(turn({ content }), mistral)].flat()
    expect(own).toMatchObject({
      content: [
        { type: 'thinking', thinking },
        { type: 'text', text: 'Hello' },
      ],
    })
  })

  test('comes back with references among Mistral’s parts, which say nothing elsewhere', () => {
    const content = [
      { type: 'thinking', thinking: [{ type: 'text', text: 'Hm.' }] },
      { type: 'text', text: 'Nine fathoms' },
      { type: 'reference', reference_ids: [0, 2] },
      { type: 'text', text: '.' },
    ]
    const [, own] = [sentMessages(turn({ content }))].flat()
    expect(own).toMatchObject({ content: 'Nine fathoms\n\n.', reasoning_content: 'Hm.' })
    expect(() => sentMessages([user([{ type: 'reference', reference_ids: [0] }])])).toThrow()
  })

  test('of a stream of Mistral’s parts, whose last one has the encrypted thought of a summary', () => {
    const text = (part: string) => ({ type: 'thinking', thinking: [{ type: 'text', text: part }] })
    const seal = { type: 'thinking', thinking: [], signature: 'berth.responses.encrypted.E' }
    expect(thoughtOf({ content: [text('h'), text('mm'), seal] })).toEqual({
      type: 'thinking',
      text: 'hmm',
      signature: 'E',
      isEncrypted: true,
      origin: 'responses',
    })
  })

  test('goes back in the form of each upstream', () => {
    const [, plain] = turn({ reasoning_content: 'hmm' })
    const back = (dialect: object) =>
      Object([sentMessages(turn({ reasoning_content: 'hmm' }), dialect)].flat()[1])
    expect(back({})).toEqual(Object(plain))
    expect(back(at('api.moonshot.ai'))).toMatchObject({ reasoning_content: 'hmm' })
    expect(back(at('api.deepseek.com'))).toMatchObject({ reasoning_content: 'hmm' })
    expect(back(openai)).not.toHaveProperty('reasoning_content')
    expect(back(at('api.groq.com'))).toMatchObject({ reasoning: 'hmm' })
    const signed = [sentMessages(turn({ reasoning_details: details }), openai)].flat()[1]
    expect(signed).not.toHaveProperty('reasoning_details')
    const other = Object([sentMessages(turn({ reasoning_details: details }))].flat()[1])
    expect(other).toMatchObject({
      reasoning_content: 'hmm',
      thinking_blocks: [{ type: 'thinking', thinking: 'hmm', signature: 'SIG' }],
    })
  })

  test('goes to OpenRouter with its signatures', () => {
    const content: Message[] = [
      { role: 'user', content: [{ type: 'text', text: 'x' }] },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', text: 'hmm', signature: 'SIG', origin: 'messages' },
          { type: 'call', id: 'c1', name: 'f', arguments: '', signature: 'G' },
        ],
      },
    ]
    const { raw: _, ...request } = decode({}).request
    const { body } = encodeChat({ ...request, messages: content }, target, openrouter)
    expect(Object(body.messages)[1]).toEqual({
      role: 'assistant',
      content: null,
      reasoning: 'hmm',
      reasoning_details: [
        {
          type: 'reasoning.text',
          text: 'hmm',
          signature: 'SIG',
          format: 'anthropic-claude-v1',
          index: 0,
        },
        { type: 'reasoning.encrypted', data: 'G', id: 'c1', format: 'google-gemini-v1', index: 1 },
      ],
      tool_calls: [fn('c1', 'f')],
    })
  })
})

test('cache marks survive, without a lifetime, and only where they are known', () => {
  const long = { cache_control: { type: 'ephemeral', ttl: '1h' } }
  const text = (words: string) => ({ type: 'text', text: words, ...long })
  const body = {
    messages: [
      { role: 'system', content: [text('BIG')] },
      {
        role: 'user',
        content: [{ ...imageOf(`data:image/png;base64,${png}`), ...long }, text('q')],
      },
      { role: 'assistant', content: [text('a')], tool_calls: [{ ...fn('c1', 'f'), ...long }] },
      { role: 'tool', tool_call_id: 'c1', content: [text('r')] },
    ],
    tools: [{ type: 'function', function: { name: 'f', parameters: { type: 'object' } }, ...long }],
    ...long,
  }
  const count = (value: unknown) => JSON.stringify(value).match(/cache_control/g)?.length ?? 0
  for (const one of [sent(body), written(body), sent(body, openrouter)]) {
    expect(count(one)).toBe(8)
    expect(JSON.stringify(one)).not.toContain('ttl')
  }
  for (const one of [sent(body, openai), written(body, openai)]) expect(count(one)).toBe(0)
  // Some clients mark the object inside a part or a call.
  const address = { url: `data:image/png;base64,${png}`, ...long }
  const inside = {
    messages: [
      { role: 'user', content: [{ type: 'image_url', image_url: address }] },
      {
        role: 'assistant',
        tool_calls: [
          { id: 'c1', type: 'function', function: { name: 'f', arguments: '{}', ...long } },
        ],
      },
    ],
  }
  expect([count(sent(inside, openrouter)), count(sent(inside, openai))]).toEqual([2, 0])
  const { request } = decode(body)
  expect(JSON.stringify(request.messages).match(/isCached/g)?.length).toBe(6)
  expect([request.isCached, request.tools[0]?.isCached]).toEqual([true, true])
})

test('media and text of a conversation are found for its checks', () => {
  const { request } = decode({
    messages: [
      user([
        { type: 'text', text: 'See.' },
        { type: 'file', file_id: 'f1' },
      ]),
      { role: 'system', content: 'äö' },
    ],
  })
  expect(mediaIn(request.messages)).toEqual([{ type: 'file', source: { fileId: 'f1' } }])
  expect(countChars(request.messages)).toBe(6)
  const replaced = replaceMedia(request.messages, () => ({ type: 'text', text: 'Words.' }))
  const { raw: _, ...anew } = request
  const { body } = encodeChat({ ...anew, messages: replaced }, target, {})
  expect(Object(body.messages)[0]).toEqual(
    user([
      { type: 'text', text: 'See.' },
      { type: 'text', text: 'Words.' },
    ]),
  )
})

test('a request of another API becomes OpenAI’s', () => {
  const request: ChatRequest = {
    messages: [
      {
        role: 'system',
        content: [
          { type: 'text', text: 'A' },
          { type: 'text', text: 'B' },
        ],
      },
      { role: 'user', content: [{ type: 'text', text: 'x' }] },
      { role: 'assistant', content: [{ type: 'call', id: 'c1', name: 'f', arguments: '' }] },
      { role: 'tool', callId: 'c1', content: [{ type: 'text', text: 'No.' }], isError: true },
    ],
    tools: [{ name: 'f' }],
    toolChoice: { mode: 'required', names: ['f'] },
    isSerial: true,
    outputMax: 500,
    choices: 1,
    sampling: { topK: 5, temperature: 0 },
    stop: ['.'],
    reasoning: { budget: 5_000 },
    format: { type: 'schema', schema: { type: 'object' } },
    extra: {},
  }
  expect(encodeChat(request, { ...target, isStream: true }, {})).toEqual({
    path: '/chat/completions',
    body: {
      model: 'm',
      messages: [
        { role: 'system', content: 'A\n\nB' },
        user('x'),
        { role: 'assistant', content: null, tool_calls: [fn('c1', 'f')] },
        { role: 'tool', tool_call_id: 'c1', content: 'Error: No.' },
      ],
      tools: [
        {
          type: 'function',
          function: { name: 'f', parameters: { type: 'object', properties: {} } },
        },
      ],
      tool_choice: { type: 'function', function: { name: 'f' } },
      parallel_tool_calls: false,
      max_tokens: 100,
      top_k: 5,
      temperature: 0,
      stop: ['.'],
      reasoning_effort: 'medium',
      response_format: {
        type: 'json_schema',
        json_schema: { name: 'response', schema: { type: 'object' } },
      },
      stream: true,
      stream_options: { include_usage: true },
    },
  })
})
