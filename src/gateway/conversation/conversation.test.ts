import { expect, test } from 'bun:test'

import type { Json } from '../../kernel/schema.ts'
import { allNames, type ApiName, apis } from '../../testing/conversations/apis.ts'
import { writeDetails } from '../openai-chat/thinking.ts'
import { type ChatEvent, eventsOf, gather } from './chat-event.ts'
import type { Message } from './chat-request.ts'
import { countChars, fileIdOf, hasContent, mediaIn, replaceMedia } from './contents.ts'
import { mediaTypeOf, parseDataUrl } from './media.ts'
import { parseSeal, sealText } from './sealed-thought.ts'
import { originalId, portableId, withOwnIds, withUniqueCalls } from './tools.ts'

test('every id of a call comes back, in letters that every client takes', () => {
  const ids = [
    'call_1',
    'toolu_01-A',
    'functions.find:0',
    'a|b',
    'é',
    '漢字',
    'x'.repeat(80),
    'a b',
  ]
  for (const id of ids) {
    const portable = portableId(id)
    expect([id, originalId(portable)]).toEqual([id, id])
    expect(portable).toMatch(/^[\w-]+$/)
  }
  expect(portableId('call_1')).toBe('call_1')
  expect(portableId('functions.find:0')).not.toBe(portableId('functions.find:1'))
  // An id that another server made has no prefix of ours to decode.
  expect(originalId('call64_')).toBe('call64_')
})

/** A response with a call whose upstream sends ids neither for it nor for itself. */
const withoutIds: Record<ApiName, Json> = {
  chat: { choices: [{ message: { tool_calls: [{ function: { name: 'f', arguments: '{}' } }] } }] },
  mistral: {
    choices: [{ message: { tool_calls: [{ id: '', function: { name: 'f', arguments: {} } }] } }],
  },
  openrouter: { choices: [{ message: { function_call: { name: 'f', arguments: '{}' } } }] },
  responses: { output: [{ type: 'function_call', name: 'f', arguments: '{}' }] },
  messages: { content: [{ type: 'tool_use', name: 'f', input: {} }] },
  gemini: { candidates: [{ content: { parts: [{ functionCall: { name: 'f' } }] } }] },
  cohere: { message: { tool_calls: [{ function: { name: 'f', arguments: '{}' } }] } },
}

test.each(allNames)('a call without an id gets one that no other turn has (%s)', (name) => {
  const idsOf = () =>
    apis[name].upstream
      .readWhole(withoutIds[name])
      .flatMap((event) => (event.type === 'call' ? [event.id] : []))
  const ids = [...idsOf(), ...idsOf()]
  for (const id of ids) expect(id).toMatch(/^call_\w{12}$/)
  expect(new Set(ids).size).toBe(2)
})

test('a call whose id another call has gets its own, in each form of a response', () => {
  const call = (index: number) => ({ index, id: 'f:0', function: { name: 'f', arguments: '{}' } })
  const content = [{ type: 'call', id: 'f:0', name: 'f', arguments: '{}' } as const]
  const request = (messages: Message[]) => ({
    messages,
    tools: [{ name: 'f' }],
    choices: 1,
    sampling: {},
    stop: [],
    extra: {},
  })
  const idsOf = (events: readonly ChatEvent[] = []) =>
    events.flatMap((event) => (event.type === 'call' ? [event.id] : []))
  const { upstream } = apis.chat
  const fresh = withUniqueCalls(upstream, request([]))
  const later = withUniqueCalls(upstream, request([{ role: 'assistant', content }]))
  const whole = { choices: [{ message: { tool_calls: [call(0), call(1)] } }] }
  const own = expect.stringMatching(/^call_\w{12}$/)
  expect(idsOf(fresh.readWhole(whole))).toEqual(['f:0', own])
  expect(idsOf(later.readWhole(whole))).toEqual([own, own])
  const reader = later.createReader()
  const chunk = (index: number) =>
    JSON.stringify({ choices: [{ index: 0, delta: { tool_calls: [call(index)] } }] })
  const ids = [...idsOf(reader.read(chunk(0))), ...idsOf(reader.read(chunk(1)))]
  expect(ids).toEqual([own, own])
  expect(new Set(ids).size).toBe(2)
})

test('calls with the same id reach strict APIs with ids of their own, and so do results', () => {
  const call = (id: string) => ({ type: 'call' as const, id, name: 'f', arguments: '{}' })
  const turn = (...ids: string[]): Message => ({ role: 'assistant', content: ids.map(call) })
  const result = (callId: string): Message => ({ role: 'tool', callId, content: [] })
  const messages = [turn('a'), result('a'), turn('a_2', 'a', 'a'), result('a_2'), result('a')]
  const request = { tools: [], choices: 1, sampling: {}, stop: [], extra: {} }
  const target = { model: 'm', isStream: false, outputMax: 100, stopsItself: false }
  const idsOf = (name: 'responses' | 'messages', pattern: RegExp) => {
    const sent = { ...request, messages: [...messages, result('a')] }
    const { body } = apis[name].upstream.encode(sent, target)
    return JSON.stringify(body)
      .matchAll(pattern)
      .map(([id]) => id)
      .toArray()
  }
  const own = ['a', 'a', 'a_2', 'a_3', 'a_4', 'a_2', 'a_3', 'a_4']
  expect(idsOf('responses', /(?<="call_id":")\w+/g)).toEqual(own)
  expect(idsOf('messages', /(?<="(?:tool_use_)?id":")\w+/g)).toEqual(own)
})

test('many calls with the same id cost no more than many with their own', () => {
  const call = { type: 'call' as const, id: 'a', name: 'f', arguments: '{}' }
  const turn: Message = { role: 'assistant', content: Array(50_000).fill(call) }
  const result: Message = { role: 'tool', callId: 'a', content: [] }
  const [calls, ...results] = withOwnIds([turn, ...Array<Message>(50_000).fill(result)])
  const ids = calls?.content.map((part) => part.type === 'call' && part.id)
  expect(ids?.slice(0, 3)).toEqual(['a', 'a_2', 'a_3'])
  expect(new Set(ids).size).toBe(50_000)
  expect(results.map((one) => one.role === 'tool' && one.callId)).toEqual(ids ?? [])
})

test('a signature comes back with its origin, and one of the own API stays as it is', () => {
  for (const isEncrypted of [undefined, true]) {
    const seal = {
      signature: 'a.b\n=',
      origin: 'gemini',
      ...(isEncrypted && { isEncrypted }),
    } as const
    expect(sealText(seal, 'gemini')).toBe('a.b\n=')
    expect(sealText(seal, 'messages')).not.toBe('a.b\n=')
    expect(parseSeal(sealText(seal, 'messages'), 'messages')).toEqual(seal)
  }
  expect(parseSeal('EqQB', 'messages')).toEqual({ signature: 'EqQB', origin: 'messages' })
  // No codec has this name, so that no upstream gets the signature.
  expect(parseSeal('berth.other.x', 'chat')).toEqual({ signature: 'x', origin: 'other' })
  const [detail] = writeDetails([{ text: '', ...parseSeal('berth.constructor.x', 'chat') }])
  expect(detail).toMatchObject({ format: 'unknown', signature: 'berth.constructor.x' })
})

test('the content of media decides its type, then a label that providers know', () => {
  const png = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1').toString('base64')
  const webp = Buffer.from('RIFF\0\0\0\0WEBPVP8 ').toString('base64')
  expect(mediaTypeOf(png, 'image/jpeg')).toBe('image/png')
  expect(mediaTypeOf(webp, '')).toBe('image/webp')
  expect(mediaTypeOf(Buffer.from('%PDF-1.7').toString('base64'), 'text/plain')).toBe(
    'application/pdf',
  )
  expect(mediaTypeOf('AAAA', 'image/jpg')).toBe('image/jpeg')
  expect(mediaTypeOf('AAAA', 'Audio/MP3; codecs=x')).toBe('audio/mpeg')
  expect(mediaTypeOf('AAAA', 'video/mp4')).toBe('video/mp4')
})

test('a data: URL is split, in base64 or in percent encoding', () => {
  const text = { data: Buffer.from('a b%').toString('base64'), mediaType: 'text/plain' }
  expect(parseDataUrl('data:text/plain,a%20b%25')).toEqual(text)
  expect(parseDataUrl(`DATA:text/plain;charset=utf-8;base64,${text.data}`)).toEqual(text)
  expect(parseDataUrl('data:text/plain,100%')).toEqual({ ...text, data: btoa('100%') })
  expect(parseDataUrl('https://example.com/data:,')).toBeUndefined()
})

test('media are found and replaced in every message that may have them', () => {
  const image = { type: 'image', source: { url: 'https://example.com/a.png' } } as const
  const upload = { type: 'file', source: { fileId: 'file_1' } } as const
  const messages: Message[] = [
    { role: 'system', content: [{ type: 'text', text: 'Be kind.' }] },
    { role: 'user', content: [{ type: 'text', text: 'Hi' }, image] },
    { role: 'assistant', content: [{ type: 'thinking', text: 'Hm.' }, image] },
    { role: 'tool', callId: 'c', content: [upload] },
  ]
  expect(mediaIn(messages)).toEqual([image, image, upload])
  expect(mediaIn(messages).map(fileIdOf)).toEqual([undefined, undefined, 'file_1'])
  expect(countChars(messages)).toBe('Be kind.Hi'.length)
  const replaced = replaceMedia(messages, () => ({ type: 'text', text: 'x' }))
  expect(mediaIn(replaced)).toEqual([])
  expect(replaced.map(({ content }) => content.at(-1))).toEqual([
    { type: 'text', text: 'Be kind.' },
    ...[1, 2, 3].map(() => ({ type: 'text' as const, text: 'x' })),
  ])
  // The conversation of the client stays as it is.
  expect(mediaIn(messages)).toHaveLength(3)
})

test('only a text or media are content for a model', () => {
  const of = (...content: Extract<Message, { role: 'assistant' }>['content']) =>
    hasContent([{ role: 'assistant', content }])
  expect(of({ type: 'text', text: '' }, { type: 'thinking', text: 'Hm.' })).toBe(false)
  expect(of({ type: 'text', text: 'a' })).toBe(true)
  expect(of({ type: 'audio', source: { data: 'AAAA', mediaType: 'audio/wav' } })).toBe(true)
})

test('the steps of a response are gathered, and a gathered response has the same steps', () => {
  const choice = 0
  const events: ChatEvent[] = [
    { type: 'start', id: 'r', created: 1 },
    { type: 'thinking', choice, text: 'Let me ' },
    { type: 'thinking', choice, text: 'see.' },
    { type: 'signature', choice, signature: 's', origin: 'messages' },
    { type: 'thinking', choice, text: 'More.' },
    { type: 'signature', choice, signature: 'e', isEncrypted: true, origin: 'messages' },
    { type: 'text', choice, text: 'A', logprobs: [{ token: 'A' }] },
    { type: 'text', choice, text: 'hoy' },
    { type: 'citation', choice, citation: { url: 'https://example.com/', title: 'E' } },
    { type: 'call', choice, call: 0, id: 'c0', name: 'f' },
    { type: 'call', choice, call: 1, id: 'c1', name: 'g', isCustom: true },
    // The pieces of calls may alternate.
    { type: 'arguments', choice, call: 1, text: 'x' },
    { type: 'arguments', choice, call: 0, text: '{' },
    { type: 'arguments', choice, call: 1, text: 'y' },
    { type: 'arguments', choice, call: 0, text: '}' },
    { type: 'end', choice, reason: 'calls' },
    { type: 'text', choice: 1, text: 'B' },
    { type: 'end', choice: 1, reason: 'stop', stop: 'C' },
    { type: 'done' },
  ]
  const response = gather(events)
  expect(response).toEqual({
    id: 'r',
    created: 1,
    choices: [
      {
        content: [
          { type: 'thinking', text: 'Let me see.', signature: 's', origin: 'messages' },
          { type: 'thinking', text: 'More.' },
          { type: 'thinking', text: '', signature: 'e', isEncrypted: true, origin: 'messages' },
          { type: 'text', text: 'Ahoy' },
          { type: 'call', id: 'c0', name: 'f', arguments: '{}' },
          { type: 'call', id: 'c1', name: 'g', isCustom: true, arguments: 'xy' },
        ],
        citations: [{ url: 'https://example.com/', title: 'E' }],
        logprobs: [{ token: 'A' }],
        reason: 'calls',
      },
      {
        content: [{ type: 'text', text: 'B' }],
        citations: [],
        logprobs: [],
        reason: 'stop',
        stop: 'C',
      },
    ],
  })
  expect(gather(eventsOf(response))).toEqual(response)
})
