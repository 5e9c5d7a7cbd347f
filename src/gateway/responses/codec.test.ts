import { describe, expect, test } from 'bun:test'

import { recordOf } from '../../kernel/schema.ts'
import {
  decode,
  encode,
  final,
  jsonsOf,
  name,
  writerWith,
  written,
} from '../../testing/fixtures/responses-codec.ts'
import type { ChatEvent } from '../conversation/chat-event.ts'
import type { ThinkingPart } from '../conversation/chat-request.ts'
import { EventReader } from '../events.ts'
import { responsesCodec } from './encode.ts'

const choice = 0
const usage = { input_tokens: 11, output_tokens: 7, total_tokens: 18 }
const message = {
  type: 'message',
  id: 'msg_1',
  role: 'assistant',
  content: [{ type: 'output_text', text: 'Nine.' }],
}

test('a response passes through a client of this API and back without a loss', async () => {
  const steps: ChatEvent[] = [
    { type: 'start', created: 5, id: `resp_${name}` },
    { type: 'thinking', choice, text: 'Hm.' },
    {
      type: 'signature',
      choice,
      signature: 'gAAA',
      isEncrypted: true,
      origin: 'responses',
      id: `rs_${name}0`,
    },
    { type: 'text', choice, text: 'Nine.' },
    {
      type: 'citation',
      choice,
      citation: { url: 'https://a.example', title: 'A', start: 0, end: 4 },
    },
    { type: 'refusal', choice, text: 'No.' },
    { type: 'call', choice, call: 0, id: 'a', name: 'depth' },
    { type: 'arguments', choice, call: 0, text: '{"x":1}' },
    { type: 'call', choice, call: 1, id: 'c', name: 'patch', isCustom: true },
    { type: 'arguments', choice, call: 1, text: '***' },
    { type: 'end', choice, reason: 'calls' },
  ]
  const { response, sent } = await written(steps)
  const isOfContent = ({ type }: ChatEvent): boolean => type !== 'usage' && type !== 'done'
  expect(responsesCodec.readWhole(response).filter(isOfContent)).toEqual(steps)
  const reader = responsesCodec.createReader()
  const streamed = sent.flatMap((event) => reader.read(JSON.stringify(event)) ?? [])
  // Calls stay open until the end, so their arguments follow each other.
  expect(streamed.filter(isOfContent)).toEqual(steps)
})

describe('a thought', () => {
  const fromClient = async (...events: ChatEvent[]) => {
    const { output } = await written([
      ...events,
      { type: 'call', choice, call: 0, id: 'a', name: 'depth' },
    ])
    const input = [...output, { type: 'function_call_output', call_id: 'a', output: 'nine' }]
    return decode({ input }).request.messages[0]?.content.slice(0, -1)
  }
  const thinking: ChatEvent = { type: 'thinking', choice, text: 'Hm.' }
  const seals: [ChatEvent[], Omit<ThinkingPart, 'type'>][] = [
    [[thinking], { text: 'Hm.' }],
    [
      [thinking, { type: 'signature', choice, signature: 's', origin: 'messages' }],
      { text: 'Hm.', signature: 's', origin: 'messages' },
    ],
    [
      [{ type: 'signature', choice, signature: 's', origin: 'messages', isEncrypted: true }],
      { text: '', signature: 's', origin: 'messages', isEncrypted: true },
    ],
    [
      [
        thinking,
        { type: 'signature', choice, signature: 's', origin: 'responses', isEncrypted: true },
      ],
      { text: 'Hm.', signature: 's', origin: 'responses', isEncrypted: true },
    ],
  ]
  test.each(seals)('survives a tool loop that stores nothing: %j', async (events, part) => {
    expect(await fromClient(...events)).toEqual([{ type: 'thinking', ...part }])
  })

  test('is in an item with encrypted content, without which clients drop it', async () => {
    const { output } = await written([thinking, { type: 'text', choice, text: 'So.' }])
    expect(output[0]).toMatchObject({ type: 'reasoning', encrypted_content: 'berth.chat.' })
    const { request } = decode({ input: [...output, { role: 'user', content: 'Go on.' }] })
    expect(encode(request)).toMatchObject({ input: [{ type: 'message' }, { role: 'user' }] })
  })

  test("of Google's models is with its call again", async () => {
    const { output } = await written([
      thinking,
      { type: 'call', choice, call: 0, id: 'a', name: 'depth', signature: 'g' },
    ])
    const input = [...output, { type: 'function_call_output', call_id: 'a', output: 'nine' }]
    expect(decode({ input }).request.messages[0]?.content).toEqual([
      { type: 'thinking', text: 'Hm.' },
      { type: 'call', id: 'a', name: 'depth', arguments: '{}', signature: 'g' },
    ])
  })
})

describe("a response of an upstream with the client's API", () => {
  const sentOf = (...events: object[]) =>
    events.map((event, at) => {
      const data = { ...event, sequence_number: at }
      return `event: ${Object(event).type}\ndata: ${JSON.stringify(data, null, 1).replaceAll('\n', ' ')}\n\n`
    })
  const decoder = new TextDecoder()

  async function passed(texts: string[]) {
    const order: string[] = []
    const { codec, items } = writerWith({ onFinish: async () => void order.push('shared') })
    const writer = codec.createWriter()
    const parser = new EventReader(1e6)
    const parts = parser.push(Buffer.from(texts.join(''))).flatMap((own) => {
      const event = writer.pass(own, [])
      return event ? [decoder.decode(event.bytes.subarray(event.start, event.end))] : []
    })
    expect(order).toEqual([])
    const last = decoder.decode(await writer.end(final))
    expect(order).toEqual(['shared'])
    return { texts: [...parts, last].join(''), items }
  }

  test('arrives byte for byte, the last event when its items can be named', async () => {
    const texts = sentOf(
      { type: 'response.created', response: { id: 'resp_1', model: 'fake/ok', zebra: 1 } },
      { type: 'response.output_text.delta', delta: '"type": "response.completed"' },
      { type: 'response.output_item.done', item: message },
      { type: 'response.completed', response: { id: 'resp_1', usage } },
    )
    const { texts: sent, items } = await passed(texts)
    expect(sent).toBe(texts.join(''))
    expect(items).toEqual([message])
  })

  test("has the client's model, and not what it cost the operator", async () => {
    const { texts } = await passed(
      sentOf(
        { type: 'response.created', response: { id: 'resp_1', model: 'gpt' } },
        { type: 'response.completed', response: { model: 'gpt', usage: { ...usage, cost: 3 } } },
      ),
    )
    expect(jsonsOf(Buffer.from(texts))).toEqual([
      {
        type: 'response.created',
        response: { id: 'resp_1', model: 'fake/ok' },
        sequence_number: 0,
      },
      { type: 'response.completed', response: { model: 'fake/ok', usage }, sequence_number: 1 },
    ])
    const { codec, items } = writerWith()
    const whole = { id: 'resp_1', output: [message] }
    const sent = { ...whole, model: 'gpt', usage: { ...usage, cost: 3, cost_details: {} } }
    expect(await codec.pass(sent, final)).toEqual({
      ...whole,
      model: 'fake/ok',
      usage: { ...usage, cost: 1 },
    })
    expect(items).toEqual([message])
  })

  test('has an id and a text of arguments for each call', async () => {
    const bare = { type: 'function_call', id: 'fc_1', name: 'depth', arguments: { at: 1 } }
    const complete = { ...bare, call_id: 'fc_1', arguments: '{"at":1}' }
    const { texts, items } = await passed(
      sentOf(
        { type: 'response.output_item.added', item: { ...bare, call_id: '', arguments: '' } },
        { type: 'response.output_item.done', item: bare },
        { type: 'response.completed', response: { id: 'resp_1', output: [bare, message] } },
      ),
    )
    const [added, finished, end] = jsonsOf(Buffer.from(texts))
    expect([added?.item, finished?.item]).toEqual([{ ...complete, arguments: '' }, complete])
    expect(end?.response).toMatchObject({ output: [complete, message] })
    expect(items).toEqual([complete])
    const { codec } = writerWith()
    expect(await codec.pass({ output: [bare] }, final)).toMatchObject({ output: [complete] })
  })

  test('has the same id for a call in each event, where the upstream sends none', async () => {
    const call = { type: 'function_call', name: 'depth', arguments: '{}' }
    const { texts } = await passed(
      sentOf(
        ...[1, 2].flatMap((output_index) => [
          { type: 'response.output_item.added', output_index, item: { ...call, arguments: '' } },
          { type: 'response.output_item.done', output_index, item: call },
        ]),
        { type: 'response.completed', response: { output: [message, call, call] } },
      ),
    )
    const events = jsonsOf(Buffer.from(texts))
    const [first, , second] = events.map(({ item }) => recordOf(item).call_id)
    expect(first).toMatch(/^call_\w+$/)
    expect(second).not.toBe(first)
    const [one, two] = [first, second].map((call_id) => ({ ...call, call_id }))
    expect(events.slice(0, 4).map(({ item }) => item)).toEqual([
      { ...one, arguments: '' },
      one,
      { ...two, arguments: '' },
      two,
    ])
    expect(events[4]?.response).toEqual({ output: [message, one, two] })
  })

  test('that fails goes on with the numbers of the upstream', () => {
    const { codec } = writerWith()
    const writer = codec.createWriter()
    const texts = sentOf(
      { type: 'response.created', response: { id: 'resp_1', model: 'gpt' } },
      { type: 'response.output_text.delta', delta: 'I' },
    )
    for (const own of new EventReader(1e6).push(Buffer.from(texts.join('')))) writer.pass(own, [])
    expect(jsonsOf(writer.fail({ message: 'No.', code: 'broken' }, final))).toMatchObject([
      { type: 'error', sequence_number: 2, code: 'broken' },
      {
        type: 'response.failed',
        sequence_number: 3,
        response: { id: 'resp_1', model: 'fake/ok', status: 'failed' },
      },
    ])
  })
})
