import { expect, test } from 'bun:test'

import { gather } from '../../conversation/chat-event.ts'
import type { ChatRequest, Message, Tool } from '../../conversation/chat-request.ts'
import { demoChat } from './chat-events.ts'

const user = (text: string): Message => ({ role: 'user', content: [{ type: 'text', text }] })
const system: Message = { role: 'system', content: [{ type: 'text', text: 'Be very kind.' }] }

const ask = (messages: Message[], more: Partial<ChatRequest> = {}): ChatRequest => ({
  messages,
  tools: [],
  choices: 1,
  sampling: {},
  stop: [],
  extra: {},
  ...more,
})

function complete(
  request: ChatRequest,
  { isStream = false, max = 4_096, model = 'demo/chat' } = {},
) {
  const events = [...demoChat(model, request, isStream, max, 1_700_000_000)]
  const usage = events.flatMap((event) => (event.type === 'usage' ? [event.usage] : []))[0]
  return { events, usage, response: gather(events), types: events.map(({ type }) => type) }
}

const weather: Tool = {
  name: 'get_weather',
  parameters: {
    type: 'object',
    properties: { city: { type: 'string' }, unit: { enum: ['celsius', 'fahrenheit'] } },
    required: ['city', 'unit'],
  },
}
const sample = '{"city":"city","unit":"celsius"}'

test('repeats the last user text and counts a token per word', () => {
  const messages = [{ ...system, content: [{ type: 'text' as const, text: 'Be kind.' }] }]
  const request = ask([...messages, user('one'), user('Hello,  wörld 👋')])
  const { events, usage, response } = complete(request)
  expect(events).toMatchObject([
    { type: 'start', id: expect.stringMatching(/^chatcmpl-.{24}$/), created: 1_700_000_000 },
    { type: 'text', choice: 0, text: 'Hello,  wörld 👋' },
    { type: 'end', choice: 0, reason: 'stop' },
    { type: 'usage' },
    { type: 'done' },
  ])
  expect(usage).toMatchObject({ prompt: 6, completion: 3, total: 9 })
  expect(complete(request).response).toEqual(response)
})

test('replies without a user message and without text', () => {
  const text = (message: Message) => complete(ask([message])).response.choices[0]?.content
  const image = { type: 'image' as const, source: { url: 'https://example.com/boat.png' } }
  const none = [{ type: 'text', text: 'I was told no words.' }]
  expect(text(system)).toEqual([{ type: 'text', text: 'Be very kind.' }])
  expect(text({ role: 'user', content: [image] })).toMatchObject(none)
  expect(text({ role: 'tool', callId: 'c', content: [] })).toMatchObject(none)
})

test('streams the same by token, made when it is read', () => {
  const request = ask([user(`Hello wörld ${'x'.repeat(40)}\n`)], { choices: 2, logprobs: 1 })
  const [whole, stream] = [complete(request), complete(request, { isStream: true })]
  expect(stream.response).toEqual(whole.response)
  expect(stream.usage).toEqual({ ...whole.usage, completion: 2 * 6 })
  expect(stream.types.filter((type) => type === 'text')).toHaveLength(2 * 6)
  expect(whole.types.filter((type) => type === 'text')).toHaveLength(2)
  for (const one of whole.response.choices[0]?.logprobs ?? []) {
    const { top_logprobs, ...certain } = one
    expect([certain.logprob, top_logprobs]).toEqual([0, [certain]])
  }
})

test('stops at the limit and at a stop sequence, with the matching reason', () => {
  const messages = [user('one two three four')]
  const text = [{ type: 'text', text: 'one two' }]
  const short = complete(ask(messages), { max: 2 })
  expect(short.response.choices).toMatchObject([{ content: text, reason: 'length' }])
  expect(short.usage?.completion).toBe(2)
  const stopped = complete(ask(messages, { stop: ['a', 'b', 'c', ' three', 'one'] }))
  expect(stopped.response.choices).toMatchObject([{ content: text, reason: 'stop' }])
  const long = complete(ask([user('word '.repeat(2_000))]), { model: 'demo/small', max: 9_000 })
  expect(long.usage?.completion).toBe(1_000)
})

test('calls a tool that the text or the choice names, with given or sample arguments', () => {
  const call = (text: string, more: Partial<ChatRequest> = {}, isStream = false) => {
    const request = ask([user(text)], { tools: [weather], ...more })
    const { content: [part] = [], reason } =
      complete(request, { isStream }).response.choices[0] ?? {}
    return part?.type === 'call' ? [reason, part.name, part.arguments] : reason
  }
  const sampled = ['calls', 'get_weather', sample]
  expect(call('please call get_weather')).toEqual(sampled)
  expect(call('please call get_weather', {}, true)).toEqual(sampled)
  const given = ['calls', 'get_weather', '{"city":"Turku"}']
  expect(call('call get_weather {"city": "Turku"}')).toEqual(given)
  expect(call('call get_weather {"city": ')).toEqual(sampled)
  expect(call('hi', { toolChoice: 'required' })).toEqual(sampled)
  expect(call('hi', { toolChoice: { mode: 'required', names: ['get_weather'] } })).toEqual(sampled)
  expect(call('call get_weather', { toolChoice: 'none' })).toBe('stop')
  expect(call('call get_weather', { toolChoice: { mode: 'auto', names: ['x'] } })).toBe('stop')
  expect(call('call get_time')).toBe('stop')
  const search = { tools: [{ name: 'web_search' }] }
  expect(call('news', search)).toEqual(['calls', 'web_search', '{"query":"news"}'])
})

test('repeats a tool result, and counts calls and media', () => {
  const image = { type: 'image' as const, source: { url: 'https://example.com/boat.png' } }
  const { response, usage } = complete(
    ask([
      user('call get_weather'),
      {
        role: 'assistant',
        content: [{ type: 'call', id: 'c', name: 'get_weather', arguments: '{}' }],
      },
      { role: 'tool', callId: 'c', content: [{ type: 'text', text: '21 degrees' }, image] },
    ]),
  )
  expect(response.choices[0]?.content).toEqual([{ type: 'text', text: '21 degrees' }])
  expect(usage?.prompt).toBe(2 + 2 + 2 + 100)
})

test('returns a value in the format of the output', () => {
  const schema = { type: 'object', properties: { a: { const: 1 } }, required: ['a'] }
  const reply = (format: ChatRequest['format']) =>
    complete(ask([user('hi')], format && { format })).response.choices[0]?.content[0]
  expect(reply({ type: 'schema', schema })).toEqual({ type: 'text', text: '{"a":1}' })
  expect(reply({ type: 'object' })).toEqual({ type: 'text', text: '{"text":"hi"}' })
})

test('adds reasoning on request and counts cached system text', () => {
  const more = { reasoning: { effort: 'low' }, extra: { prompt_cache_key: 'k' } }
  const { response, usage, types } = complete(ask([system, user('hi')], more), { isStream: true })
  expect(response.choices[0]?.content).toEqual([
    { type: 'thinking', text: 'I repeat what I was told.' },
    { type: 'text', text: 'hi' },
  ])
  expect(usage).toMatchObject({ prompt: 4, completion: 7, cached: 3, reasoning: 6 })
  expect(types.filter((type) => type === 'thinking')).toHaveLength(6)
  const none = complete(ask([user('hi')], { reasoning: { effort: 'none' } }))
  expect(none.usage?.reasoning).toBe(0)
})

test('the builder declines for free what no template does', () => {
  const page = 'add a boss\n\nThe page:\n```html\n<h1>A</h1>\n```'
  const { response, usage } = complete(ask([user(page)]), { model: 'demo/builder' })
  expect(response.choices[0]?.content[0]).toMatchObject({
    type: 'refusal',
    text: expect.stringContaining('BUILDER_MODEL to a chat model'),
  })
  expect(usage).toMatchObject({ prompt: 0, completion: 0 })
})

test('rejects custom tools by name', () => {
  const tools = [weather, { name: 'patch', isCustom: true }]
  expect(() => complete(ask([user('call patch')], { tools }))).toThrow()
})
