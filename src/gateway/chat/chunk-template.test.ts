import { expect, test } from 'bun:test'

import { EventReader } from '../events.ts'
import { ChunkTemplate } from './chunk-template.ts'
import { ResponseMeter } from './response-meter.ts'

const none = { limits: { prompt: 1_000_000, completion: 1_000_000 }, choices: 1 }
const bounds = { ...none, countPrompt: () => 7 }

type Delta = Record<string, unknown>
const chunk = (delta: Delta, more: Delta = {}, own: Delta = {}): string =>
  JSON.stringify({ id: 'c', choices: [{ index: 0, delta, finish_reason: null, ...own }], ...more })

/** Measures a stream and counts its parsed chunks. */
function run(
  chunks: string[],
  usesTemplate = true,
  [start, end]: readonly string[] = ['data: ', '\n\n'],
) {
  const meter = new ResponseMeter(bounds)
  const template = new ChunkTemplate()
  let parsed = 0
  for (const text of chunks) {
    const events = new EventReader(1_000_000).push(Buffer.from(`${start}${text}${end}`))
    for (const event of events) {
      if (usesTemplate && template.read(event, meter)) continue
      parsed += 1
      const response = JSON.parse(event.data ?? '')
      meter.read(response)
      template.learn(event, response)
    }
  }
  const { completion } = meter.usage(true)
  return { parsed, completion, hasContent: meter.hasContent, isFiltered: meter.isFiltered }
}

const words = ['A', 'content', ' boat', 'é', '😀', '漢字', ' the rest', '', '   ']

test('chunks that differ only in their text are parsed once', () => {
  const spaced = (text: string): string =>
    JSON.stringify(JSON.parse(text), null, 1).replaceAll('\n', '')
  for (const name of ['content', 'reasoning', 'reasoning_content']) {
    for (const spell of [(text: string) => text, spaced]) {
      const chunks = words.map((word) => spell(chunk({ role: 'assistant', [name]: word })))
      expect([name, run(chunks).parsed]).toEqual([name, 1])
      expect({ ...run(chunks), parsed: 0 }).toEqual({ ...run(chunks, false), parsed: 0 })
    }
  }
})

test('chunks with more content are parsed in full', () => {
  const plain = chunk({ content: 'x' })
  const odd = [
    'a "quote"',
    'two\nlines',
    'back\\slash',
    '\u0001',
    '","finish_reason":"content_filter',
    '"content":"',
    '\\u0041',
  ].map((content) => chunk({ content }))
  const others = [
    chunk({ content: 'x' }, {}, { finish_reason: 'length' }),
    chunk({ content: 'x' }, { usage: { prompt_tokens: 3, completion_tokens: 9 } }),
    chunk({ content: 'x', refusal: 'No.' }),
    chunk({ content: 'x', reasoning: 'why' }),
    chunk({ tool_calls: [{ index: 0, function: { arguments: '{"content":"x"}' } }] }),
    chunk({ content: 'x' }, {}, { finish_reason: 'content_filter' }),
    JSON.stringify({
      choices: [{ delta: { content: 'x' } }, { delta: { content: 'y' }, index: 1 }],
    }),
    JSON.stringify({ 'a"content': 'x', choices: [{ delta: { content: 'x' } }] }),
    JSON.stringify({ content: 'x', choices: [{ delta: { content: 'x' } }] }),
  ]
  for (const other of [...odd, ...others]) {
    for (const chunks of [
      [plain, other, plain, other, plain],
      [other, other, plain, plain],
    ]) {
      expect([other, { ...run(chunks), parsed: 0 }]).toEqual([
        other,
        { ...run(chunks, false), parsed: 0 },
      ])
    }
    expect(run([plain, other]).parsed).toBe(2)
  }
})

test('an event with another spelling is parsed', () => {
  const chunks = ['aa', 'ab', 'a', 'a"b'].map((content) => chunk({ content }))
  for (const spelled of [
    ['data:', '\n\r\n'],
    ['data:', '\n\n'],
    ['id: 1\ndata: ', '\n\n'],
    ['data: ', '\r\n\r\n'],
  ]) {
    expect([spelled, run(chunks, true, spelled)]).toEqual([spelled, run(chunks, false, spelled)])
  }
})

test('a stream of differing chunks stops learning after a few tries', () => {
  const chunks = Array.from({ length: 100 }, (_, at) =>
    chunk({ content: 'x' }, { obfuscation: `${at}` }),
  )
  expect(run(chunks).parsed).toBe(100)
  expect(run([...chunks, ...words.map((word) => chunk({ content: word }))]).parsed).toBe(109)
})
