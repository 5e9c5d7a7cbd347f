import { expect, test } from 'bun:test'

import type { Json } from '../../kernel/schema.ts'
import { type ApiName, apiNames, apis, through } from '../../testing/conversations/apis.ts'
import { signatureOf } from '../gemini/thought-signature.ts'

/** The work for a chat grows with its parts, not with their square: it is counted, not timed. */

/** Methods of arrays that read all elements, and those that may stop before. */
const whole = ['includes', 'indexOf', 'shift', 'splice', 'toSpliced', 'unshift', 'with'] as const
const early = ['every', 'find', 'findIndex', 'findLast', 'findLastIndex', 'some'] as const
const each = ['filter', 'flatMap', 'map'] as const

/** Returns how many elements these methods read while a function runs. */
function countReads(run: () => unknown): number {
  let reads = 0
  const originals = [...whole, ...early, ...each].map((name) => {
    const original: unknown = Reflect.get(Array.prototype, name)
    if (typeof original !== 'function') throw new Error(`Arrays have no ${name}.`)
    const isWhole = whole.some((one) => one === name)
    Reflect.set(Array.prototype, name, function counted(this: unknown[], ...args: unknown[]) {
      const [callback, ...more] = args
      if (isWhole || typeof callback !== 'function') {
        reads += this.length
        return Reflect.apply(original, this, args)
      }
      const counting = (...values: unknown[]): unknown => {
        reads += 1
        return Reflect.apply(callback, undefined, values)
      }
      return Reflect.apply(original, this, [counting, ...more])
    })
    return [name, original] as const
  })
  try {
    run()
  } finally {
    for (const [name, original] of originals) Reflect.set(Array.prototype, name, original)
  }
  return reads
}

const range = (parts: number): number[] => Array.from({ length: parts }, (_, at) => at)
const question = { role: 'user', content: 'x' }
const sealed = (at: number): string => `berth.gemini.s${at}`
const result = (id: unknown) => ({ role: 'tool', tool_call_id: id, content: 'ok' })
const called = (id: unknown) => ({ id, type: 'function', function: { name: 'f', arguments: '{}' } })
const chat = (all: number[], idOf: (at: number) => unknown, more: Json = {}): Json => ({
  messages: [
    question,
    { role: 'assistant', content: null, ...more, tool_calls: all.map((at) => called(idOf(at))) },
    ...all.toReversed().map((at) => result(idOf(at))),
  ],
})
const thinking = (at: number) => ({
  type: 'thinking',
  thinking: [],
  signature: sealed(at),
})

/** Returns requests with as many calls, whose results come in reverse. */
const requests: [name: string, api: ApiName, body: (all: number[]) => Json][] = [
  ['chat', 'chat', (all) => chat(all, (at) => `c${at}`)],
  ['chat without ids', 'chat', (all) => chat(all, () => undefined)],
  ['chat with one id', 'chat', (all) => chat(all, () => 'c')],
  ['chat of Mistral', 'chat', (all) => chat(all, (at) => `c${at}`, { content: all.map(thinking) })],
  [
    'responses',
    'responses',
    (all) => ({
      input: [
        question,
        ...all.map((at) => ({ type: 'reasoning', summary: [], encrypted_content: sealed(at) })),
        ...all.map((at) => ({
          type: 'function_call',
          call_id: `c${at}`,
          name: 'f',
          arguments: '{}',
        })),
        ...all
          .toReversed()
          .map((at) => ({ type: 'function_call_output', call_id: `c${at}`, output: 'ok' })),
      ],
    }),
  ],
  [
    'messages',
    'messages',
    (all) => ({
      messages: [
        question,
        {
          role: 'assistant',
          content: [
            ...all.map((at) => ({ type: 'thinking', thinking: '', signature: sealed(at) })),
            ...all.map((at) => ({ type: 'tool_use', id: `c${at}`, name: 'f', input: {} })),
          ],
        },
        {
          role: 'user',
          content: all
            .toReversed()
            .map((at) => ({ type: 'tool_result', tool_use_id: `c${at}`, content: 'ok' })),
        },
      ],
    }),
  ],
  ...([true, false] as const).map((hasIds): (typeof requests)[number] => [
    hasIds ? 'gemini' : 'gemini without ids',
    'gemini',
    (all) => ({
      contents: [
        { role: 'user', parts: [{ text: 'x' }] },
        {
          role: 'model',
          parts: all.map((at) => ({
            functionCall: { name: 'f', args: {}, ...(hasIds && { id: `c${at}` }) },
            thoughtSignature: signatureOf([{ type: 'thinking', text: `t${at}` }]),
          })),
        },
        {
          role: 'user',
          parts: all.toReversed().map((at) => ({
            functionResponse: { name: 'f', response: {}, ...(hasIds && { id: `c${at}` }) },
          })),
        },
      ],
    }),
  ]),
  ['cohere', 'cohere', (all) => chat(all, (at) => `c${at}`)],
  ['cohere without ids', 'cohere', (all) => chat(all, () => '')],
]

test.each(requests)('%s is read and sent in linear work', (_, api, body) => {
  const reads = (parts: number, run: (sent: Json) => unknown): number => {
    const sent = body(range(parts))
    return countReads(() => run(sent))
  }
  const decode = (sent: Json) => apis[api].decode(sent)
  expect(reads(800, decode)).toBeLessThan(2.5 * reads(400, decode))
  for (const upstream of apiNames) {
    const send = (sent: Json) => {
      const { raw: __, ...request } = decode(sent)
      return through(upstream, request)
    }
    const ratio = reads(800, send) / reads(400, send)
    expect([upstream, ratio < 2.5]).toEqual([upstream, true])
  }
})
