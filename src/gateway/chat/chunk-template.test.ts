import { expect, test } from 'bun:test'

import type { StreamWriter } from '../conversation/codec.ts'
import { bytesOf, EventReader, type StreamEvent } from '../events.ts'
import { createChatReader } from '../openai-chat/read.ts'
import { createChatClient } from '../openai-chat/write.ts'
import { ChunkTemplate } from './chunk-template.ts'
import { ChatMeter } from './meter.ts'

const none = { limits: { prompt: 1_000_000, completion: 1_000_000 }, choices: 1 }
const bounds = { ...none, countPrompt: () => 7 }

type Delta = Record<string, unknown>
const chunk = (delta: Delta, more: Delta = {}, own: Delta = {}): string =>
  JSON.stringify({ id: 'c', choices: [{ index: 0, delta, finish_reason: null, ...own }], ...more })

const writerFor = (model: string): StreamWriter =>
  createChatClient({
    model,
    id: 'own',
    created: 1,
    wantsUsage: false,
    flavor: 'openai',
  }).createWriter()

/** Measures a stream, counts its parsed chunks, and returns what its client gets. */
function run(
  chunks: string[],
  usesTemplate = true,
  [start, end]: readonly string[] = ['data: ', '\n\n'],
  model = 'm',
) {
  const meter = new ChatMeter(bounds)
  const template = new ChunkTemplate()
  const reader = createChatReader()
  const writer = writerFor(model)
  let parsed = 0
  let sent = ''
  for (const text of chunks) {
    const events = new EventReader(1_000_000).push(Buffer.from(`${start}${text}${end}`))
    for (const event of events) {
      if (usesTemplate && template.read(event, meter)) {
        const written: StreamEvent[] = []
        template.write([event], written)
        sent += Buffer.from(bytesOf(written)).toString()
        continue
      }
      parsed += 1
      const steps = reader.read(event.data ?? '') ?? []
      meter.read(steps)
      const passed = writer.pass(event, steps)
      if (!passed) continue
      template.learn(event, passed, steps)
      sent += Buffer.from(bytesOf([passed])).toString()
    }
  }
  const { completion } = meter.usage(true)
  return { parsed, completion, hasContent: meter.hasContent, isFiltered: meter.isFiltered, sent }
}

const words = ['A', 'content', ' boat', 'é', '😀', '漢字', ' the rest', '', '   ']

test('chunks that differ only in their text are parsed once', () => {
  const spaced = (text: string): string =>
    JSON.stringify(JSON.parse(text), null, 1).replaceAll('\n', '')
  for (const name of ['content', 'reasoning_content']) {
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

test('every chunk names the model that the client asked for', () => {
  const named = (delta: Delta, model = 'upstream/model'): string => chunk(delta, { model })
  const chunks = words.map((word) => named({ content: word }))
  const renamed = words.map((word) => named({ content: word }, 'asked'))
  const events = (texts: string[]): string => texts.map((text) => `data: ${text}\n\n`).join('')
  const { parsed, sent } = run(chunks, true, undefined, 'asked')
  expect([parsed, sent]).toEqual([1, events(renamed)])
  // The bytes of a stream with the right name stay as they are.
  expect(run(renamed, true, undefined, 'asked')).toMatchObject({ parsed: 1, sent: events(renamed) })
})

test('a chunk that is written anew keeps the text of its own event', () => {
  const spaced = (text: string): string => text.replaceAll('":', '": ')
  for (const name of ['content', 'reasoning_content']) {
    const chunks = words.map((word) => spaced(chunk({ [name]: word }, { model: 'm1' })))
    const { sent } = run(chunks, true, undefined, 'm2')
    expect(sent).toBe(run(chunks, false, undefined, 'm2').sent)
    expect(sent).toContain('"model":"m2"')
  }
})
